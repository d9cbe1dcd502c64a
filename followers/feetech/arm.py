"""One arm on its bus: opening without motion, reading and writing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from paprle.contracts.errors import DeviceError, MissingDependency
from paprle.contracts.plugins import Clock
from paprle.contracts.types import LimbInfo, RobotInfo, Vec
from paprle.followers.feetech.config import FeetechConfig
from paprle.followers.feetech.zeros import (
    JointMap,
    find_tight_limits,
    find_unreachable,
    find_wide_ranges,
    make_map,
)
from paprle.hardware.feetech.bus import Reading
from paprle.hardware.feetech.bus_thread import BusSettings, BusThread, Snapshot
from paprle.hardware.feetech.calibration import choose_motors
from paprle.hardware.feetech.calibration_check import Joint
from paprle.hardware.feetech.eeprom import Stored, find_stored
from paprle.hardware.feetech.errors import BusError
from paprle.hardware.feetech.examination import (
    ArmModel,
    Table,
    describe_unseen,
    examine_calibration,
    examine_servos,
)
from paprle.hardware.feetech.models import ServoSpec
from paprle.hardware.feetech.wire import Wire

_SAME_PLACE = 0.05  # [rad] chosen: a command that far from the arm is no jump
_CALIBRATE = "calibrate it: paprle calibrate follower=… env=feetech"


class FeetechArm:
    """One limb's servos: the arm's joints, then the gripper's.

    Attributes:
        limb, name: Its limb, and the name of that.
        names: Its joints, the gripper's last.
        specs: Its servos, likewise.
        bus: Its bus.
        stop_reason: Reason not to move it, or "".
    """

    def __init__(
        self, config: FeetechConfig, limb: LimbInfo, port: str, clock: Clock
    ) -> None:
        self._config, self.limb = config, limb
        self.name, self.names = limb.name, list_joints(limb)
        self.specs = make_specs(config, limb)
        self._where = f"env 'feetech': port '{port}'"
        self.bus = BusThread(
            BusSettings(
                path=port, baud=config.baud, rate=config.rate, timeout=config.timeout
            ),
            self.specs,
            clock,
        )
        self._joint_by_id = {
            spec.id: name for spec, name in zip(self.specs, self.names, strict=True)
        }
        self._map: JointMap | None = None
        self._is_muted = False
        self._q: Vec = np.zeros(len(self.names))
        self.stop_reason = ""

    def open(self, robot: RobotInfo, calibration: str) -> None:
        """Connect, check the calibration, and hold the arm where it is.

        Args:
            robot: Whose limits its joints have to reach.
            calibration: LeRobot's file or its name; empty: as at the servos.

        Raises:
            DeviceError: If it is missing, faulty, or not calibrated.
            MissingDependency: If the SDK is not installed.
        """
        self.connect()
        try:
            self._map = self.find_map(calibration)
            self._check_ranges(robot, self._map)
            self.bus.hold()
        except BusError as err:
            raise DeviceError(describe_problems(err)) from err
        self.read()

    def connect(self) -> None:
        """Connect to its servos; torque stays as it is.

        Raises:
            DeviceError: If one is missing or faulty.
            MissingDependency: If the SDK is not installed.
        """
        try:
            self.bus.open()
        except ImportError as err:
            raise MissingDependency(
                f"env 'feetech': expected {err.name}, got none; pip install "
                "'paprle[so101]'"
            ) from err
        except BusError as err:
            raise DeviceError(describe_problems(err)) from err

    def diagnose(
        self, robot: RobotInfo, calibration: str
    ) -> Iterator[tuple[bool, str]]:
        """Yield findings on its servos and calibration, without torque or motion."""
        config = self._config
        wire = Wire(self.bus.settings.path, config.baud, config.timeout)
        model = self._make_model(robot, calibration)
        try:
            wire.open()
            tables = yield from examine_servos(wire, model.joints, is_driven=True)
            if len(tables) == len(model.joints):
                yield from self._examine_calibration(robot, model, tables)
        except BusError as err:
            for text in err.problems:
                yield False, f"{self._where}: {text}"
        finally:
            wire.close()

    def _examine_calibration(
        self, robot: RobotInfo, model: ArmModel, tables: Mapping[int, Table]
    ) -> Iterator[tuple[bool, str]]:
        if not (yield from examine_calibration(model, tables)):
            return
        stored = [find_stored(tables[joint.spec.id]) for joint in model.joints]
        try:
            self._check_ranges(robot, self._make_map(model.calibration, stored))
            yield True, f"{self._where}: its calibration reaches the robot's limits"
        except DeviceError as err:
            yield False, str(err)
        yield True, describe_unseen(model)

    def _make_model(self, robot: RobotInfo, calibration: str) -> ArmModel:
        travel = robot.q_max - robot.q_min
        last = self.limb.gripper.joint if self.limb.gripper else ""
        key = "env.calibration" if len(robot.limbs) == 1 else "env.calibrations"
        return ArmModel(
            joints=tuple(
                Joint(
                    name=name,
                    spec=spec,
                    travel=float(travel[robot.joint_names.index(name)]),
                    is_gripper=name == last,
                )
                for name, spec in zip(self.names, self.specs, strict=True)
            ),
            where=self._where,
            calibration=calibration,
            is_driven=True,
            setting=key if len(robot.limbs) == 1 else f"{key}.{self.name}",
            command="paprle calibrate follower=… env=feetech",
        )

    def find_map(self, calibration: str) -> JointMap:
        """Return the map of its joints, by a file or by its opened servos.

        Raises:
            DeviceError: If there is no such file, or the servos are not calibrated.
        """
        return self._make_map(calibration, self.bus.stored)

    def _make_map(self, calibration: str, stored: Sequence[Stored]) -> JointMap:
        ids = [spec.id for spec in self.specs]
        try:
            motors = choose_motors(calibration, ids, stored, is_leader=False)
        except (OSError, ValueError) as err:
            raise DeviceError(f"{self._where}: calibration: {err}") from err
        both = zip(self.names, motors, strict=True)
        raw = [name for name, motor in both if motor.is_factory]
        if raw:
            raise DeviceError(
                f"{self._where}: expected calibrated servos, got {', '.join(raw)} as "
                "they left the factory; name LeRobot's file by env.calibration=…, or "
                f"{_CALIBRATE}"
            )
        middles = [self._config.middles.get(name, 0.0) for name in self.names]
        homings = [one.homing_offset for one in stored]
        found = make_map(motors, homings, middles, self.limb.gripper)
        unreachable = find_unreachable(self.names, found, stored)
        if unreachable:
            raise DeviceError(
                f"{self._where}: expected servos that hold the calibration "
                f"{calibration or 'stored there'}, got others at "
                f"{', '.join(unreachable)}, which would not reach all of it; write it "
                "to them with lerobot-calibrate (Enter takes the file), or "
                f"{_CALIBRATE}"
            )
        return found

    def read(self) -> tuple[int, Vec, Vec, Vec]:
        """Return the newest stamp [ns], positions, speeds and torques.

        Sets ``stop_reason``.

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
        dq = np.where(is_there, found.sign * reading.velocity, 0.0)
        current = np.where(is_there, found.sign * reading.current, 0.0)
        return reading.stamp_ns, self._q, dq, self._config.torque_constant * current

    def write(self, q_cmd: Vec) -> None:
        """Send a target; after a stop of its own, only from where the arm is."""
        if self._map is None:
            return
        if self._is_muted:
            if self.stop_reason or np.abs(q_cmd - self._q).max() > _SAME_PLACE:
                return
            self._is_muted = False
        self.bus.set_goal(self._map.to_servos(q_cmd))

    def find_held(self) -> Vec:
        """Return the target that the servos hold, or the position, shape (n,)."""
        goal, found = self.bus.held_goal, self._map
        return self._q if goal is None or found is None else found.to_joints(goal)

    def close(self, *, is_powerless: bool) -> None:
        """Leave the arm holding; without power it falls."""
        self.bus.close(off=is_powerless)
        self._map = None

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
            where = f"servo {servo_id} on '{self.bus.settings.path}': "
            known = joints.setdefault(text.removeprefix(where), [])
            known.append(self._joint_by_id[servo_id])
        return [f"{', '.join(names)}: {text}" for text, names in joints.items()]

    def _check_ranges(self, robot: RobotInfo, found: JointMap) -> None:
        """Raise DeviceError where the calibration contradicts the robot."""
        ids = [robot.joint_names.index(name) for name in self.names]
        q_min, q_max = robot.q_min[ids], robot.q_max[ids]
        wide = find_wide_ranges(self.names, found, q_min, q_max)
        if wide:
            listed = "; ".join(wide)
            raise DeviceError(f"{self._where}: {listed}; {_CALIBRATE}")
        tight = find_tight_limits(self.names, found, q_min, q_max)
        if tight:
            words = " ".join(f"{key}={value:.3f}" for key, value in tight.items())
            raise DeviceError(
                f"{self._where}: expected calibrated ranges that hold the robot's "
                f"limits, got tighter ones; if its stops are really there add {words}, "
                f"else {_CALIBRATE}"
            )


def describe_problems(err: BusError) -> str:
    """Return the problems of a bus, a line each."""
    listed = "\n".join(err.problems)
    return f"env 'feetech': {listed}"


def list_joints(limb: LimbInfo) -> tuple[str, ...]:
    """Return a limb's joints, the gripper's last."""
    return (*limb.joint_names, *([limb.gripper.joint] if limb.gripper else []))


def make_specs(config: FeetechConfig, limb: LimbInfo) -> tuple[ServoSpec, ...]:
    """Return the servos of a limb in the order of ``list_joints``."""
    last = limb.gripper.joint if limb.gripper else ""
    return tuple(
        ServoSpec(
            id=config.ids.get(name, number),
            torque_limit=config.gripper_torque_limit
            if name == last
            else config.torque_limit,
        )
        for number, name in enumerate(list_joints(limb), start=1)
    )
