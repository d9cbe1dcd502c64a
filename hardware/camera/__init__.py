"""Cameras behind OpenCV and the network."""
