"""Reports of slow work to whoever started it."""

from __future__ import annotations


class Work:
    """Receiver of notes and counts; this one discards them."""

    def note(self, text: str) -> None:
        """Take the present step in words, for example ``reading meshes``."""

    def count(self, n_done: float, n_all: float, unit: str) -> None:
        """Take how much of the present step is done.

        Args:
            n_done: Done so far.
            n_all: All of it.
            unit: What is counted, in the plural, for example ``recordings``.
        """


UNSEEN = Work()
"""Discards all reports."""
