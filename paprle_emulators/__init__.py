"""Emulators of devices: they speak a device's bytes, and misbehave on command."""
