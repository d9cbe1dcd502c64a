"""Checks of recorded motion, of files and of data sets."""
