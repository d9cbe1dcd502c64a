"""Cameras behind OpenCV and the network, and one on the network that misbehaves."""
