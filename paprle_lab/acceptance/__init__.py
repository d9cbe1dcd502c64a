"""Acceptance of a rig."""
