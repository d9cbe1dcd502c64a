"""The report of an episode."""
