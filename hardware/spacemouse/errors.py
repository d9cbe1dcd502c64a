"""The error of six-axis mice."""

from __future__ import annotations


class MouseError(OSError):
    """A mouse is not there, is forbidden, or went."""
