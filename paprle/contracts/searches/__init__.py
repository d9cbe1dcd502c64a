"""Searches for devices without settings."""
