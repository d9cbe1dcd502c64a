"""Cameras, one package per source."""
