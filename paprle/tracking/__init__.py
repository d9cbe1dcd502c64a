"""Tracking of each limb's target, by recorded input."""
