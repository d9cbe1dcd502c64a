"""Base class of every device that is opened and closed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Sequence
from typing import Any

Dialogue = Generator[str, str, dict[str, Any]]
"""Yields what to ask the operator, is sent the answer, returns the settings found."""


class Device(ABC):
    """Base class of every device that is opened and closed.

    The session calls ``preflight`` before it opens anything; the process of the device
    reports ``notes``, ``take_warnings`` and ``closing_notes``. Verbs call ``diagnose``,
    ``set_up`` and ``calibrate`` of leaders. Override only what the device supports.
    """

    @abstractmethod
    def open(self) -> object:
        """Connect, and raise once with all faults."""

    @abstractmethod
    def close(self) -> None:
        """Release the device; may be called twice, never raises."""

    @property
    def notes(self) -> Sequence[str]:
        """Remarks before the start, a line each."""
        return ()

    def preflight(self) -> Sequence[str]:
        """Return visible obstacles to opening, such as a missing screen or port.

        The device stays closed, and nothing is sent to it.
        """
        return ()

    @property
    def unchecked(self) -> str:
        """Conditions that only ``open`` can check; empty: none."""
        return ""

    def take_warnings(self) -> Sequence[str]:
        """Return faults and recoveries since the last call without blocking."""
        return ()

    @property
    def closing_notes(self) -> Sequence[str]:
        """Remarks at the end, a line each."""
        return ()

    def diagnose(self) -> Iterable[tuple[bool, str]] | None:
        """Yield checks of a closed device, without motion or writes.

        Returns:
            Success and description with remedy; None where opening it shows as much.
        """
        return None

    def set_up(self, joints: Sequence[str]) -> Dialogue | None:  # noqa: ARG002
        """Set up a closed device once, such as ids on its bus.

        Args:
            joints: Selected ``limb/joint``; all when empty.

        Returns:
            Dialogue that ends with ``servos``, a line each; None without setup.
        """
        return None

    def calibrate(self, joints: Sequence[str]) -> Dialogue | None:  # noqa: ARG002
        """Calibrate in a dialogue with the operator.

        Args:
            joints: Selected ``limb/joint``; all when empty.

        Returns:
            Dialogue that begins once the device is open; None without calibration.
        """
        return None
