"""Inertial sensors on a serial line: packets, clock, orientation, an emulator."""
