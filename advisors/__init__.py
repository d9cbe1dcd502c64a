"""Advisors: one package per source of suggested goals or velocities."""

DISTRIBUTION = "paprle"
"""Whose package this is: others may bring one of the same name."""
