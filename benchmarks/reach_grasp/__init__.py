"""Demonstrations → data set → a small network → rolled out through the same gate."""
