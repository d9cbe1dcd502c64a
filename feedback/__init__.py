"""Feedback laws: pure functions from what both sides do to what the operator feels."""
