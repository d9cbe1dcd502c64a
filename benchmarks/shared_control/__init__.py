"""Classic and adaptive control by one axis, with scripted users."""
