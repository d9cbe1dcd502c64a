"""One arm on its bus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from paprle.contracts.errors import DeviceError, MissingDependency
from paprle.contracts.kit.followers.servo_arm import ServoArm, list_joints
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
from paprle.hardware.feetech.bus_thread import BusSettings, BusThread
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

_CALIBRATE = "calibrate it: paprle calibrate follower=… env=feetech"


class FeetechArm(ServoArm[BusThread, JointMap]):
    """Arm joints, then the gripper's; ``specs`` in the order of ``names``."""

    def __init__(
        self, config: FeetechConfig, limb: LimbInfo, port: str, clock: Clock
    ) -> None:
        self._config, self.specs = config, make_specs(config, limb)
        settings = BusSettings(
            path=port, baud=config.baud, rate=config.rate, timeout=config.timeout
        )
        bus = BusThread(settings, self.specs, clock)
        super().__init__("feetech", limb, port, bus, [one.id for one in self.specs])

    def open(self, robot: RobotInfo, calibration: str) -> None:
        """Connect, check calibration and limits, and hold the arm in place.

        ``calibration`` is LeRobot's file or its name; empty: the servos'.

        Raises:
            DeviceError: If it is missing, faulty, or not calibrated.
            MissingDependency: Without the SDK.
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
            MissingDependency: Without the SDK.
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
        """Yield findings, without torque or motion."""
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
        """Return the map of a file or the opened servos.

        Raises:
            DeviceError: If the file is missing, or servos are uncalibrated.
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

    def _find_motion(self, reading: Reading, found: JointMap) -> tuple[Vec, Vec]:
        current = found.sign * reading.current
        return found.sign * reading.velocity, self._config.torque_constant * current

    def _check_ranges(self, robot: RobotInfo, found: JointMap) -> None:
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
    """Return a bus's problems, a line each."""
    listed = "\n".join(err.problems)
    return f"env 'feetech': {listed}"


def make_specs(config: FeetechConfig, limb: LimbInfo) -> tuple[ServoSpec, ...]:
    """Return a limb's servos, as ``list_joints``."""
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
