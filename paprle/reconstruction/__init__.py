"""Reconstruction of motion from noisy, late or few samples."""
