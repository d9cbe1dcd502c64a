"""Impaired networks."""
