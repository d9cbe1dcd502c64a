"""Reconstruction of motion from samples that are noisy, late or few."""
