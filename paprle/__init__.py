"""PAPRLE: plug-and-play teleoperation."""
