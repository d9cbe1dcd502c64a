"""One arm on its bus."""

from __future__ import annotations

from collections.abc import Iterator

from paprle.contracts.errors import DeviceError, MissingDependency
from paprle.contracts.kit.followers.servo_arm import ServoArm, list_joints
from paprle.contracts.plugins import Clock
from paprle.contracts.types import LimbInfo, RobotInfo, Vec
from paprle.followers.dynamixel.config import DynamixelConfig
from paprle.followers.dynamixel.joint_map import (
    JointMap,
    find_tight_limits,
    make_map,
)
from paprle.hardware.dynamixel.errors import BusError
from paprle.hardware.dynamixel.line.wire import Wire
from paprle.hardware.dynamixel.position.bus import Reading
from paprle.hardware.dynamixel.position.bus_thread import BusThread
from paprle.hardware.dynamixel.position.examination import examine
from paprle.hardware.dynamixel.position.inspection import PositionSpec
from paprle.hardware.serial_bus.goal_thread import BusSettings


class DynamixelArm(ServoArm[BusThread, JointMap]):
    """Arm joints, then the gripper's; ``specs`` in the order of ``names``."""

    def __init__(
        self, config: DynamixelConfig, limb: LimbInfo, port: str, clock: Clock
    ) -> None:
        self._config, self.specs = config, make_specs(config, limb)
        settings = BusSettings(
            path=port, baud=config.baud, rate=config.rate, timeout=config.timeout
        )
        bus = BusThread(settings, self.specs, clock)
        super().__init__("dynamixel", limb, port, bus, [one.id for one in self.specs])

    def open(self, robot: RobotInfo) -> None:
        """Connect, check the servos, and hold the arm in place.

        Raises:
            DeviceError: If it is missing, faulty, set up for another robot, or too
                limited.
            MissingDependency: Without the SDK.
        """
        try:
            self.bus.open()
            found = make_map(self._config, self.limb)
            self._check_ranges(robot, found)
            self.bus.hold()
        except ImportError as err:
            raise MissingDependency(
                f"env 'dynamixel': expected {err.name}, got none; pip install "
                "'paprle[dynamixel]'"
            ) from err
        except BusError as err:
            raise DeviceError(describe_problems(err)) from err
        self._map = found
        self.read()

    def diagnose(self) -> Iterator[tuple[bool, str]]:
        """Yield findings, without torque or motion."""
        config = self._config
        wire = Wire(self.bus.settings.path, config.baud, config.timeout)
        named = tuple(zip(self.names, self.specs, strict=True))
        try:
            wire.open()
            yield from examine(wire, named)
        except BusError as err:
            for text in err.problems:
                yield False, f"{self._where}: {text}"
        finally:
            wire.close()

    def _find_motion(self, reading: Reading, found: JointMap) -> tuple[Vec, Vec]:
        return found.gain * reading.velocity, reading.torque / found.gain

    def _check_ranges(self, robot: RobotInfo, found: JointMap) -> None:
        ids = [robot.joint_names.index(name) for name in self.names]
        limits = robot.q_min[ids], robot.q_max[ids]
        tight = find_tight_limits(self.names, found, self.bus.ranges, limits)
        if tight:
            words = " ".join(f"{key}={value:.3f}" for key, value in tight.items())
            raise DeviceError(
                f"{self._where}: expected servos whose position limits (48, 52) hold "
                f"the robot's, got tighter ones; if the arm has stops there add "
                f"{words}, else set them with DYNAMIXEL Wizard"
            )


def describe_problems(err: BusError) -> str:
    """Return a bus's problems, a line each."""
    listed = "\n".join(err.problems)
    return f"env 'dynamixel': {listed}"


def make_specs(config: DynamixelConfig, limb: LimbInfo) -> tuple[PositionSpec, ...]:
    """Return a limb's servos, as ``list_joints``."""
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
