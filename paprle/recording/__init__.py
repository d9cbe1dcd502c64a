"""Crash-safe recording and reading of episodes."""
