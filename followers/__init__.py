"""Followers: one folder a kind of world a robot lives in."""
