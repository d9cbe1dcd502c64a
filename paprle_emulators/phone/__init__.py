"""Emulated phone and radio."""
