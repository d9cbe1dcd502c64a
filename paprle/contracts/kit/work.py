"""Progress of slow work."""

from __future__ import annotations


class Work:
    """Receiver of notes and counts; this one discards them."""

    def note(self, text: str) -> None:
        """Take the present step in words, such as ``reading meshes``."""

    def count(self, n_done: float, n_all: float, unit: str) -> None:
        """Take the done part of the present step; ``unit`` is a plural."""


UNSEEN = Work()
"""Discards all reports."""
