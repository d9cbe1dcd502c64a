"""Scores and faults of episodes."""
