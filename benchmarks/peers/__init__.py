"""Comparison with pink, mink, placo and upstream PAPRLE's algorithm."""
