"""Servos that follow position goals."""
