"""One limb's servos on a serial bus."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from paprle.contracts.errors import DeviceError
from paprle.contracts.types import LimbInfo, Vec

_SAME_PLACE = 0.05  # [rad] chosen: a command that far from the arm is no jump


class ServoMap(Protocol):
    """Joint positions by servo angles, (n,)."""

    def to_joints(self, angle: Vec) -> Vec:
        """Return joint positions, [rad] or [m]."""

    def to_servos(self, q: Vec) -> Vec:
        """Return servo angles, [rad]."""


class ServoSnapshot(Protocol):
    """Newest state of a bus, see ``paprle.hardware.serial_bus.goal_thread``."""

    @property
    def reading(self) -> Any:
        """Stamp [ns] and angles [rad] at least; silent: NaN."""

    @property
    def fault(self) -> str:
        """Fault of the port, or ""."""

    @property
    def held(self) -> npt.NDArray[np.bool_]:
        """Servos that follow goals, shape (n,)."""

    @property
    def health(self) -> Mapping[int, str]:
        """Faults of servos with remedies, by id."""

    @property
    def disturbance(self) -> str:
        """Traffic of another controller, with its remedy, or ""."""


class ServoBus(Protocol):
    """A bus of goals; only ``close`` waits."""

    problems: Sequence[str]

    @property
    def snapshot(self) -> ServoSnapshot | None:
        """The newest snapshot; None before the first."""

    @property
    def held_goal(self) -> Vec | None:
        """The goal that the servos hold, [rad], if any."""

    def set_goal(self, angle: Vec) -> None:
        """Give a goal, [rad]."""

    def take_warnings(self) -> list[str]:
        """Return new warnings."""

    def close(self, *, off: bool) -> None:
        """Leave the servos holding, or limp."""


BusT = TypeVar("BusT", bound=ServoBus)
MapT = TypeVar("MapT", bound=ServoMap)


class ServoArm(ABC, Generic[BusT, MapT]):
    """The arm's joints, then the gripper's."""

    def __init__(
        self, env: str, limb: LimbInfo, port: str, bus: BusT, ids: Sequence[int]
    ) -> None:
        self.limb, self.name, self.names = limb, limb.name, list_joints(limb)
        self.bus = bus
        self._port = port
        self._where = f"env '{env}': port '{port}'"
        self._joint_by_id = dict(zip(ids, self.names, strict=True))
        self._map: MapT | None = None
        self._is_muted = False
        self._q: Vec = np.zeros(len(self.names))
        self.stop_reason = ""

    @abstractmethod
    def _find_motion(self, reading: Any, found: MapT) -> tuple[Vec, Vec]:
        """Return joint speeds and torques; unknown: NaN."""

    def read(self) -> tuple[int, Vec, Vec, Vec]:
        """Return stamp [ns], positions, speeds, torques; set ``stop_reason``.

        Raises:
            DeviceError: If it is not open.
        """
        snapshot, found = self.bus.snapshot, self._map
        if snapshot is None or found is None:
            raise DeviceError(f"{self._where}: expected an open arm, got a closed one")
        self.stop_reason = self._find_reason(snapshot)
        if self.stop_reason:
            self._is_muted = True
        reading = snapshot.reading
        is_there = np.isfinite(reading.angle)
        self._q = np.where(is_there, found.to_joints(reading.angle), self._q)
        dq, tau = self._find_motion(reading, found)
        dq, tau = np.where(is_there, dq, 0.0), np.where(is_there, tau, 0.0)
        return reading.stamp_ns, self._q, dq, tau

    def write(self, q_cmd: Vec) -> None:
        """Send a target; after its own stop, only from the arm's place."""
        if self._map is None:
            return
        if self._is_muted:
            if self.stop_reason or np.abs(q_cmd - self._q).max() > _SAME_PLACE:
                return
            self._is_muted = False
        self.bus.set_goal(self._map.to_servos(q_cmd))

    @property
    def is_muted(self) -> bool:
        """Whether targets are dropped until one is at the arm's place."""
        return self._is_muted

    def find_held(self) -> Vec:
        """Return the held target, else the position, (n,)."""
        goal, found = self.bus.held_goal, self._map
        return self._q if goal is None or found is None else found.to_joints(goal)

    def close(self, *, is_powerless: bool) -> None:
        """Leave the arm holding; without power it falls."""
        self.bus.close(off=is_powerless)
        self._map = None

    def _find_reason(self, snapshot: ServoSnapshot) -> str:
        if snapshot.fault:
            return f"{snapshot.fault}; start the session again"
        both = zip(self.names, snapshot.held, strict=True)
        limp = [name for name, is_held in both if not is_held]
        causes = self._list_causes(snapshot.health)
        if limp:  # they follow again only after a new start, from where they are
            causes = causes or [f"{', '.join(limp)}: no torque"]
            return f"{'; '.join(causes)}; start the session again"
        return "; ".join([text for text in (snapshot.disturbance, *causes) if text])

    def _list_causes(self, health: Mapping[int, str]) -> list[str]:
        joints: dict[str, list[str]] = {}
        for servo_id, text in health.items():
            where = f"servo {servo_id} on '{self._port}': "
            known = joints.setdefault(text.replace(where, ""), [])
            known.append(self._joint_by_id[servo_id])
        return [f"{', '.join(names)}: {text}" for text, names in joints.items()]


def list_joints(limb: LimbInfo) -> tuple[str, ...]:
    """Return a limb's joints, the gripper's last."""
    return (*limb.joint_names, *([limb.gripper.joint] if limb.gripper else []))
