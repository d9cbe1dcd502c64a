"""The benchmark: fixed motions on robots over networks."""
