"""Validation of settings, of files and of those made in Python."""
