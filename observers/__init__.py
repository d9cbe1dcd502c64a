"""Observers: one package per output of a session."""
