"""Errors of six-axis mice."""

from __future__ import annotations


class MouseError(OSError):
    """A mouse is missing, forbidden or lost."""
