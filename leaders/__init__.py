"""Leaders: one package per kind of device in the operator's hands."""

DISTRIBUTION = "paprle"
"""Whose package this is: others may bring one of the same name."""
