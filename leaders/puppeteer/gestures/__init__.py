"""Presence of the operator's arms."""
