"""Comparison with pink, mink, placo and upstream PAPRLE's algorithm.

Each peer has a process of its own (placo needs another pinocchio).
"""
