"""Clearance of a recording: bodies, meshes, pairs and the strict verdict."""
