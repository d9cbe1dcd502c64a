"""Collision bodies of a robot: shapes, distances and pairs."""
