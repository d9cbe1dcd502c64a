"""Emulated Apple Vision Pro."""
