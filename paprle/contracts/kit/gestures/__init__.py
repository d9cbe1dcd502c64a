"""Signals that an operator gives with the arms and grippers of a leader."""
