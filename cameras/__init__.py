"""Cameras: one package per source of images."""

DISTRIBUTION = "paprle"
"""Whose package this is: others may bring one of the same name."""
