"""Feedback laws: pure functions from what both sides do to what the operator feels."""

DISTRIBUTION = "paprle"
"""Whose package this is: others may bring one of the same name."""
