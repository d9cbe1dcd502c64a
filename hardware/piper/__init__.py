"""CAN bus of the AgileX PiPER."""
