"""Emulated rigs of Dynamixel servos on pseudo-terminals, with physics."""
