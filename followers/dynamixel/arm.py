"""One arm on its bus: opening without motion, reading and writing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from paprle.contracts.errors import DeviceError, MissingDependency
from paprle.contracts.plugins import Clock
from paprle.contracts.types import LimbInfo, RobotInfo, Vec
from paprle.followers.dynamixel.config import DynamixelConfig
from paprle.followers.dynamixel.joint_map import (
    find_tight_limits,
    list_joints,
    make_map,
)
from paprle.hardware.dynamixel.errors import BusError
from paprle.hardware.dynamixel.line.wire import Wire
from paprle.hardware.dynamixel.position.bus import Reading
from paprle.hardware.dynamixel.position.bus_thread import BusThread
from paprle.hardware.dynamixel.position.examination import examine
from paprle.hardware.dynamixel.position.inspection import PositionSpec
from paprle.hardware.serial_bus.goal_thread import BusSettings, Snapshot

_SAME_PLACE = 0.05  # [rad] chosen: a command that far from the arm is no jump


class DynamixelArm:
    """One limb's servos: the arm's joints, then the gripper's.

    Attributes:
        name: Its limb's name.
        names: Its joints, the gripper's last.
        specs: Its servos, likewise.
        bus: Its bus.
        stop_reason: Reason not to move it, or "".
    """

    def __init__(
        self, config: DynamixelConfig, limb: LimbInfo, port: str, clock: Clock
    ) -> None:
        self._config = config
        self.name, self.names = limb.name, list_joints(limb)
        self.specs = make_specs(config, limb)
        self._where = f"env 'dynamixel': port '{port}'"
        self._map = make_map(config, limb)
        self._settings = BusSettings(
            path=port, baud=config.baud, rate=config.rate, timeout=config.timeout
        )
        self.bus = BusThread(self._settings, self.specs, clock)
        self._joint_by_id = {
            spec.id: name for spec, name in zip(self.specs, self.names, strict=True)
        }
        self._is_muted = False
        self._is_open = False
        self._q: Vec = np.zeros(len(self.names))
        self.stop_reason = ""

    def open(self, robot: RobotInfo) -> None:
        """Connect, check the servos, and hold the arm where it is.

        Args:
            robot: Whose limits its servos have to reach.

        Raises:
            DeviceError: If it is missing, faulty, or set up for another robot.
            MissingDependency: If the SDK is not installed.
        """
        try:
            self.bus.open()
            self._check_ranges(robot)
            self.bus.hold()
        except ImportError as err:
            raise MissingDependency(
                f"env 'dynamixel': expected {err.name}, got none; pip install "
                "'paprle[dynamixel]'"
            ) from err
        except BusError as err:
            raise DeviceError(describe_problems(err)) from err
        self._is_open = True
        self.read()

    def diagnose(self) -> Iterator[tuple[bool, str]]:
        """Yield findings on its servos, without torque or motion."""
        config = self._config
        wire = Wire(self._settings.path, config.baud, config.timeout)
        named = tuple(zip(self.names, self.specs, strict=True))
        try:
            wire.open()
            yield from examine(wire, named)
        except BusError as err:
            for text in err.problems:
                yield False, f"{self._where}: {text}"
        finally:
            wire.close()

    def read(self) -> tuple[int, Vec, Vec, Vec]:
        """Return the newest stamp [ns], positions, speeds and torques.

        Sets ``stop_reason``.

        Raises:
            DeviceError: If it is not open.
        """
        snapshot, found = self.bus.snapshot, self._map
        if snapshot is None or not self._is_open:
            raise DeviceError(f"{self._where}: expected an open arm, got a closed one")
        self.stop_reason = self._find_reason(snapshot)
        if self.stop_reason:
            self._is_muted = True
        reading = snapshot.reading
        is_there = np.isfinite(reading.angle)
        self._q = np.where(is_there, found.to_joints(reading.angle), self._q)
        dq = np.where(is_there, found.gain * reading.velocity, 0.0)
        tau = np.where(is_there, reading.torque / found.gain, 0.0)
        return reading.stamp_ns, self._q, dq, tau

    def write(self, q_cmd: Vec) -> None:
        """Send a target; after a stop of its own, only from where the arm is."""
        if not self._is_open:
            return
        if self._is_muted:
            if self.stop_reason or np.abs(q_cmd - self._q).max() > _SAME_PLACE:
                return
            self._is_muted = False
        self.bus.set_goal(self._map.to_servos(q_cmd))

    def find_held(self) -> Vec:
        """Return the target that the servos hold, or the position, shape (n,)."""
        goal = self.bus.held_goal
        return self._q if goal is None else self._map.to_joints(goal)

    def close(self, *, is_powerless: bool) -> None:
        """Leave the arm holding; without power it falls."""
        self.bus.close(off=is_powerless)
        self._is_open = False

    def _find_reason(self, snapshot: Snapshot[Reading]) -> str:
        """Return why the arm does not follow, or ""."""
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
        """Return each fault once, with the joints that have it."""
        joints: dict[str, list[str]] = {}
        for servo_id, text in health.items():
            where = f"servo {servo_id} on '{self._settings.path}': "
            known = joints.setdefault(text.replace(where, ""), [])
            known.append(self._joint_by_id[servo_id])
        return [f"{', '.join(names)}: {text}" for text, names in joints.items()]

    def _check_ranges(self, robot: RobotInfo) -> None:
        """Raise DeviceError where the servos' own limits are inside the robot's."""
        ids = [robot.joint_names.index(name) for name in self.names]
        limits = robot.q_min[ids], robot.q_max[ids]
        tight = find_tight_limits(self.names, self._map, self.bus.ranges, limits)
        if tight:
            words = " ".join(f"{key}={value:.3f}" for key, value in tight.items())
            raise DeviceError(
                f"{self._where}: expected servos whose position limits (48, 52) hold "
                f"the robot's, got tighter ones; if the arm has stops there add "
                f"{words}, else set them with DYNAMIXEL Wizard"
            )


def describe_problems(err: BusError) -> str:
    """Return the problems of a bus, a line each."""
    listed = "\n".join(err.problems)
    return f"env 'dynamixel': {listed}"


def make_specs(config: DynamixelConfig, limb: LimbInfo) -> tuple[PositionSpec, ...]:
    """Return the servos of a limb in the order of ``list_joints``."""
    last = limb.gripper.joint if limb.gripper else ""
    return tuple(
        PositionSpec(
            id=config.ids.get(name, number),
            model=config.models.get(name, config.model),
            twin=config.twins.get(name),
            torque_limit=config.gripper_torque_limit if name == last else None,
        )
        for number, name in enumerate(list_joints(limb), start=1)
    )
