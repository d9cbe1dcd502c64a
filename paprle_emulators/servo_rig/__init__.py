"""Shared parts of emulated servo rigs: terminals, line faults, orders, arm and hand."""
