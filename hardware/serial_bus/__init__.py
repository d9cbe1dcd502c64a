"""Serial buses of servos, for any SDK."""
