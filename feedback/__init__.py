"""Feedback laws, as pure functions."""
