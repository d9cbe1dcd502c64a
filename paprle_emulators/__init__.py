"""Emulators of devices at the byte level, with faults."""
