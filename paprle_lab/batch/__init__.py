"""Batches of sessions or recordings, with one table of results."""
