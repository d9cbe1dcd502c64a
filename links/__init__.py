"""Links: one folder a way in which two hosts reach each other."""

DISTRIBUTION = "paprle"
"""Whose package this is: others may bring one of the same name."""
