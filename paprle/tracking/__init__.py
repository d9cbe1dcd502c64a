"""Tracking of each limb's target, and the causes of errors.

All thresholds are in ``classify``; its input is recorded, so that reports agree.
"""
