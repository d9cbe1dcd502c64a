"""Servos that follow position goals by their own controllers."""
