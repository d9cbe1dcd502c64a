"""Devices that are opened and closed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Sequence
from typing import Any

Dialogue = Generator[str, str, dict[str, Any]]
"""Yields what to ask the operator, is sent the answer, returns the settings found."""


class Device(ABC):
    """Base class of every device; override only the supported methods."""

    @abstractmethod
    def open(self) -> object:
        """Connect, and raise once with all faults."""

    @abstractmethod
    def close(self) -> None:
        """Release the device; may be called twice, never raises."""

    @property
    def notes(self) -> Sequence[str]:
        """Remarks before the start."""
        return ()

    def preflight(self) -> Sequence[str]:
        """Return obstacles to opening, such as a missing port."""
        return ()

    @property
    def unchecked(self) -> str:
        """Conditions that only ``open`` can check, or ""."""
        return ""

    def take_warnings(self) -> Sequence[str]:
        """Return new faults and recoveries without blocking."""
        return ()

    @property
    def closing_notes(self) -> Sequence[str]:
        """Remarks at the end."""
        return ()

    def diagnose(self) -> Iterable[tuple[bool, str]] | None:
        """Return checks of a closed device, without motion or writes.

        Each is success and a description; None: opening shows as much.
        """
        return None

    def set_up(self, joints: Sequence[str]) -> Dialogue | None:  # noqa: ARG002
        """Return a dialogue that sets up a closed device once, if any.

        It ends with ``servos``, a line each; ``joints`` are ``limb/joint``, empty: all.
        """
        return None

    def calibrate(self, joints: Sequence[str]) -> Dialogue | None:  # noqa: ARG002
        """Return a calibration dialogue for the open device, if any."""
        return None
