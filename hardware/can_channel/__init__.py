"""CAN channels."""
