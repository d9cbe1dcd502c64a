"""Advisors: what suggests goals and velocities, one folder each."""

DISTRIBUTION = "paprle"
"""Whose package this is: others may bring one of the same name."""
