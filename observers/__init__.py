"""Observers, one package per output."""
