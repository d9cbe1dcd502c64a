"""Classic and adaptive control by a device of one axis, with scripted users."""
