"""Damiao's motors on CAN."""
