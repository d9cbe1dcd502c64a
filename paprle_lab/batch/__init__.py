"""Batches of sessions or recordings."""
