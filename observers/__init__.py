"""Observers: one package for each way to tell others what a session does."""

DISTRIBUTION = "paprle"
"""Whose package this is: others may bring one of the same name."""
