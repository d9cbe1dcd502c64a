"""Shared parts of servo rigs."""
