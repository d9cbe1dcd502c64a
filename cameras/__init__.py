"""Cameras: what gives images, one folder each."""
