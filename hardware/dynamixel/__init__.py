"""Dynamixel servos on a serial bus, over the vendor's SDK; SI units at the border."""
