"""Errors of six-axis mice."""

from __future__ import annotations


class MouseError(OSError):
    """Missing, forbidden or lost mouse."""
