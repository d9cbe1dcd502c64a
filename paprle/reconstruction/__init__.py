"""Reconstruction of motion from poor samples."""
