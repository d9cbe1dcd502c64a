"""Cameras: what gives images, one folder each."""

DISTRIBUTION = "paprle"
"""Whose package this is: others may bring one of the same name."""
