"""The benchmark: fixed motions on robots over networks, run as a batch."""
