"""Operator signals by the arms and grippers of a leader."""
