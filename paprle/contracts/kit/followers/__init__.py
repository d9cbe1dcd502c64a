"""Bases of followers with one device for each limb."""
