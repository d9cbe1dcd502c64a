"""Emulated Universal Robots arm with its controller: RTDE, scripts and dashboard."""
