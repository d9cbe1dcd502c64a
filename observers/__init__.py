"""Observers: one package per way to show or publish what a session does."""

DISTRIBUTION = "paprle"
"""Whose package this is: others may bring one of the same name."""
