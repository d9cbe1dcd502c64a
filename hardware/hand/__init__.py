"""Hands seen by a camera."""
