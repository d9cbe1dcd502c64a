"""The serial line of a Dynamixel bus: port, packets, requests, search."""
