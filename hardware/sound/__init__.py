"""Tones in place of vibration."""
