"""Felt contact, at the robot and over a link."""
