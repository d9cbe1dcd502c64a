"""Data sets of others' recordings, and data sets in others' formats."""
