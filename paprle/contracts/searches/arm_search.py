"""Search for connected arms, without writing or changing torque."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from paprle.contracts.types import Vec

ReadAngles = Callable[[], Vec]
"""Returns the newest angles of an arm's servos, shape (n,), [rad]; NaN where one is
silent. Raises DeviceError when the port is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundArm:
    """A port, and the servos that answer there.

    ``ids`` are the servos of an arm; ``voltage`` is [V], 0 without servos.
    """

    path: str
    ids: Sequence[int]
    models: Mapping[int, str] = field(default_factory=dict)
    voltage: float = 0.0
    problem: str = ""
    is_calibrated: bool = False
    has_torque: bool = False

    @property
    def missing(self) -> tuple[int, ...]:
        """Ids of the arm's servos that do not answer."""
        return tuple(number for number in self.ids if number not in self.models)

    @property
    def is_arm(self) -> bool:
        """Whether all servos of an arm answer."""
        return not self.missing


class ArmSearch(ABC):
    """Search for arms of one kind."""

    @abstractmethod
    def list_ports(self) -> Sequence[str]:
        """Return an arm's possible ports, by lasting names."""

    @abstractmethod
    def look(self, path: str) -> FoundArm:
        """Return what answers at a port."""

    @abstractmethod
    def watch(self, path: str) -> AbstractContextManager[ReadAngles]:
        """Open a port and return a source of angles, or raise DeviceError."""

    @abstractmethod
    def list_calibrations(self, *, is_leader: bool) -> Sequence[Path]:
        """Return the calibration files of leaders or followers."""
