"""Observers: one package for each way to tell others what a session does."""
