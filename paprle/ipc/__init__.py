"""Interprocess communication."""
