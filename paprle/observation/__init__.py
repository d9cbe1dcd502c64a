"""Observations and actions of a policy: frames, columns, units."""
