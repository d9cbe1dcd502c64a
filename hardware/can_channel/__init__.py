"""CAN channels, for every device on one."""
