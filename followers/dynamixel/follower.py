"""Follower: arms of Dynamixel servos."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from paprle.contracts.kit.followers.servo_arm import list_joints
from paprle.contracts.kit.followers.servo_follower import ServoFollower
from paprle.contracts.types import LimbInfo
from paprle.followers.dynamixel.arm import DynamixelArm
from paprle.followers.dynamixel.config import DynamixelConfig
from paprle.hardware.dynamixel.models import is_small
from paprle.hardware.robotiq.make import make_gripper
from paprle.hardware.serial_bus.port import find_obstacle


class DynamixelFollower(ServoFollower[DynamixelArm]):
    """Arms of Dynamixel servos."""

    config: DynamixelConfig
    env = "dynamixel"
    example = "/dev/ttyUSB0"
    make_gripper = staticmethod(make_gripper)

    @property
    def goes_on_unattended(self) -> bool:
        """Whether a servo lacks a trusted watchdog."""
        config = self.config
        names = [name for limb in self._grippers.limbs for name in list_joints(limb)]
        return any(is_small(config.models.get(name, config.model)) for name in names)

    @property
    def unchecked(self) -> str:
        """Checks that need open ports."""
        return "whether the servos answer, are set up for this robot and well"

    def _name_servos(self) -> Mapping[str, Collection[str]]:
        config = self.config
        return {
            "env.ids": config.ids,
            "env.models": config.models,
            "env.twins": config.twins,
            "env.offsets": config.offsets,
            "env.reversed": config.reversed,
        }

    def _find_obstacle(self, port: str) -> str:
        return find_obstacle(port)

    def _make_arm(self, limb: LimbInfo, port: str) -> DynamixelArm:
        return DynamixelArm(self.config, limb, port, self.clock)

    def _open_arm(self, arm: DynamixelArm) -> None:
        arm.open(self.robot)

    def _diagnose_arm(self, arm: DynamixelArm) -> Iterator[tuple[bool, str]]:
        return arm.diagnose()
