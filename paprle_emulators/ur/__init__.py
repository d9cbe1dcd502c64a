"""Emulated Universal Robots arm."""
