"""Searches for devices that have no settings yet."""
