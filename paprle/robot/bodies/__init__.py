"""Collision bodies of a robot."""
