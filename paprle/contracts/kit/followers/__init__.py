"""Bases of followers with one device per limb."""
