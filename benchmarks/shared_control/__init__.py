"""Classic and adaptive control by one axis."""
