"""Operator signals by a leader's arms and grippers."""
