"""Tracking of each limb's target, and the causes of errors.

Input is recorded, so that reports agree.
"""
