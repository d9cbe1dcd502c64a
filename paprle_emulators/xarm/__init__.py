"""Emulated UFACTORY arm."""
