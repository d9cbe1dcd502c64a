"""Links: one package per way that two hosts reach each other."""

DISTRIBUTION = "paprle"
"""Whose package this is: others may bring one of the same name."""
