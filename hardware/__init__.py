"""Drivers: bytes, buses and simulators; nothing here knows paprle."""

DISTRIBUTION = "paprle"
"""Whose package this is: others may bring one of the same name."""
