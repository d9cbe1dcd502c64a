"""Emulated inertial sensor."""
