"""Stability and passivity of force feedback."""
