"""Emulated Dynamixel rigs."""
