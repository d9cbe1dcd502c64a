"""Feedback laws: pure functions from the state of both sides to what is felt."""
