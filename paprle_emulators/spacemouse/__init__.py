"""Emulated six-axis mouse behind hidraw."""
