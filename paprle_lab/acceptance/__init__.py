"""Acceptance of a rig by a table of checks."""
