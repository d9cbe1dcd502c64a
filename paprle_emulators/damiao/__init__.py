"""Emulated OpenArm and YAM with Damiao motors on CAN."""
