"""Notices by which a session finds the emulated devices that run on this machine."""
