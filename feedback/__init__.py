"""Feedback laws: pure functions from the state of both sides to what is felt."""

DISTRIBUTION = "paprle"
"""Whose package this is: others may bring one of the same name."""
