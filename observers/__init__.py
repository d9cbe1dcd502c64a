"""Observers: one package per way to show or publish what a session does."""
