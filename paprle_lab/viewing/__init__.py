"""Recordings for the viewer."""
