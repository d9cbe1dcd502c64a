"""Leaders: one folder a kind of device in the operator's hand."""

DISTRIBUTION = "paprle"
"""Whose package this is: others may bring one of the same name."""
