"""Stability and passivity of force feedback, and the gains they allow."""
