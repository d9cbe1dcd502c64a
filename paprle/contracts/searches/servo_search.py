"""Servos of a leader that has no settings yet, for ``paprle new-leader``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paprle.contracts.types import Vec


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundServo:
    """A servo that answers on a port.

    Attributes:
        baud: Rate at which it answers, [bit/s].
        obeys: Id of the servo at whose joint it helps, or None.
    """

    id: int
    model: str
    baud: int
    obeys: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MountedServo:
    """A servo at a joint: q = sign · (angle − offset) / gear.

    Attributes:
        twin: Id of a second servo at the joint, or None.
        offset: Angle of the servo at joint position 0, [rad].
        gear: Turns of the servo a turn of the joint.
    """

    joint: str
    id: int
    model: str
    twin: int | None = None
    sign: int = 1
    offset: float = 0.0
    gear: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MountedGripper:
    """The servo of a gripper or trigger.

    Attributes:
        closed: Angle of the servo where it is closed, [rad].
        open: Angle where it is open, [rad].
    """

    joint: str
    id: int
    model: str
    closed: float
    open: float


class ServoSearch(ABC):
    """Finds the servos of a port and reads their angles; one port at a time."""

    @abstractmethod
    def list_ports(self) -> tuple[str, ...]:
        """Return the ports of this computer that may have servos."""

    @abstractmethod
    def find(self, port: str, at_least: int) -> list[FoundServo]:
        """Return the servos of a port by id; torque and settings stay.

        Args:
            port: Serial port.
            at_least: Rates are searched until so many servos are found.

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
        """Return the newest angles in the order of ``open``, shape (n,), [rad].

        NaN for silent servos. Any thread.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the port; may be called twice."""

    @abstractmethod
    def make_settings(
        self, name: str, joints: Sequence[MountedServo], gripper: MountedGripper | None
    ) -> tuple[dict[str, Any], Mapping[str, str]]:
        """Return the leader's keys and further files of opened servos.

        Args:
            name: Of the leader.
            joints: From the base to the hand.
            gripper: None: none.

        Returns:
            Keys of the leader with its one limb ``arm``, without its URDF and links,
            and the text of each file that they name, by path.
        """
