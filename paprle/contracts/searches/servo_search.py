"""Servos of a leader without settings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paprle.contracts.types import Vec


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundServo:
    """A servo that answers at ``baud`` [bit/s] and may obey another's id."""

    id: int
    model: str
    baud: int
    obeys: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MountedServo:
    """A servo at a joint, or two: q = sign · (angle − offset) / gear, [rad]."""

    joint: str
    id: int
    model: str
    twin: int | None = None
    sign: int = 1
    offset: float = 0.0
    gear: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MountedGripper:
    """A gripper's servo, its ``closed`` and ``open`` angle, [rad]."""

    joint: str
    id: int
    model: str
    closed: float
    open: float


class ServoSearch(ABC):
    """Finds and reads a port's servos; one port at a time."""

    @abstractmethod
    def list_ports(self) -> tuple[str, ...]:
        """Return the computer's ports that may have servos."""

    @abstractmethod
    def find(self, port: str, at_least: int) -> list[FoundServo]:
        """Return a port's servos by id; torque and settings stay.

        Rates are searched until ``at_least`` are found.

        Raises:
            DeviceError: If the port does not open, none answers, or two have one id.
        """

    @abstractmethod
    def open(self, port: str, servos: Sequence[FoundServo]) -> None:
        """Open the port and make its servos limp.

        Raises:
            DeviceError: With all problems; the port is closed again.
        """

    @abstractmethod
    def read(self) -> Vec:
        """Return the newest angles, (n,), [rad], silent: NaN; any thread."""

    @abstractmethod
    def close(self) -> None:
        """Close the port; may be called twice."""

    @abstractmethod
    def make_settings(
        self, name: str, joints: Sequence[MountedServo], gripper: MountedGripper | None
    ) -> tuple[dict[str, Any], Mapping[str, str]]:
        """Return the leader's keys and further files of opened servos.

        The keys have one limb ``arm``, without URDF and links; files are texts by path.
        """
