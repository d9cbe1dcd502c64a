"""Observations and actions of a policy."""
