"""Cameras: one package per source of images."""
