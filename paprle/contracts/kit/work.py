"""Progress of slow work."""

from __future__ import annotations


class Work:
    """Receiver of notes and counts; this one discards them."""

    def note(self, text: str) -> None:
        """Receive the present step, such as ``reading meshes``."""

    def count(self, n_done: float, n_all: float, unit: str) -> None:
        """Receive the done part of the present step."""


UNSEEN = Work()
"""Discards all reports."""
