"""Base class of every device that is opened and closed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Sequence
from typing import Any

Dialogue = Generator[str, str, dict[str, Any]]
"""Yields what to ask the operator, is sent the answer, returns the settings found."""


class Device(ABC):
    """Base class of every device that is opened and closed.

    A session calls ``preflight`` before it opens anything; a dry run also prints
    ``notes`` of leaders and what is ``unchecked``. The process that hosts a device
    reports its ``notes`` to the operator once it is ready, the result of
    ``take_warnings`` while it runs, and its ``closing_notes`` once it is closed.
    ``paprle doctor``, ``paprle setup-servos`` and ``paprle calibrate`` call the other
    three methods of leaders. Override only what the device supports.
    """

    @abstractmethod
    def open(self) -> object:
        """Connect, and raise once with everything that is wrong."""

    @abstractmethod
    def close(self) -> None:
        """Let go of it; may be called twice, never raises."""

    @property
    def notes(self) -> Sequence[str]:
        """Remarks for the operator before the start, a line each."""
        return ()

    def preflight(self) -> Sequence[str]:
        """Return what would keep it from opening, as far as that shows from outside.

        The device is closed, stays closed, and is told nothing: is there a screen, a
        terminal, a port of this name?
        """
        return ()

    @property
    def unchecked(self) -> str:
        """Conditions that only ``open`` can check, in words; empty: none."""
        return ""

    def take_warnings(self) -> Sequence[str]:
        """Return what went wrong, or got well, since the last call; never blocks."""
        return ()

    @property
    def closing_notes(self) -> Sequence[str]:
        """Remarks for the operator at the end, a line each."""
        return ()

    def diagnose(self) -> Iterable[tuple[bool, str]] | None:
        """Look for faults of a closed device, moving nothing and writing nothing to it.

        Returns:
            Whether something is well, and what it is, with the remedy; None where
            opening it and waiting for its first sample tells as much.
        """
        return None

    def set_up(self, joints: Sequence[str]) -> Dialogue | None:  # noqa: ARG002
        """Give a closed device what it needs once, such as ids on its bus.

        Args:
            joints: Only these, as ``limb/joint``; all when empty.

        Returns:
            The dialogue, which ends with ``servos``: a line for each that was set up;
            None where there is nothing to set up.
        """
        return None

    def calibrate(self, joints: Sequence[str]) -> Dialogue | None:  # noqa: ARG002
        """Measure what only the rig knows, in a dialogue with the operator.

        Args:
            joints: Only these, as ``limb/joint``; all when empty.

        Returns:
            The dialogue, which begins once the device is open; None where there is
            nothing to calibrate.
        """
        return None
