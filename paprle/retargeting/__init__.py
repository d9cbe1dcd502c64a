"""Mapping of a leader's samples to a robot's targets."""
