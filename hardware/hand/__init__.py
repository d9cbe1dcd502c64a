"""Hands seen by a camera: landmarks, trackers and recordings."""
