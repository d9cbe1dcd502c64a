"""Edits of recordings and LeRobot data sets."""
