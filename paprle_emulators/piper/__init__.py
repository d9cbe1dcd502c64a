"""Emulated AgileX PiPER."""
