"""Feetech servo buses."""
