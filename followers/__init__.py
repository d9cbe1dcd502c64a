"""Followers: one folder a kind of world a robot lives in."""

DISTRIBUTION = "paprle"
"""Whose package this is: others may bring one of the same name."""
