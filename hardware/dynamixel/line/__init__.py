"""Serial line of a Dynamixel bus."""
