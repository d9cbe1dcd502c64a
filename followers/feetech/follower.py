"""Follower: arms of Feetech servos."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from paprle.contracts.device import Dialogue
from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.kit.followers.limb_devices import check_open
from paprle.contracts.kit.followers.servo_follower import ServoFollower
from paprle.contracts.plugins import ArmSearch, Clock
from paprle.contracts.types import LimbInfo, RobotInfo
from paprle.followers.feetech.arm import FeetechArm, describe_problems
from paprle.followers.feetech.calibration import calibrate_arms
from paprle.followers.feetech.config import FeetechConfig
from paprle.followers.feetech.search import FeetechSearch
from paprle.hardware.feetech.errors import BusError
from paprle.hardware.robotiq.make import make_gripper
from paprle.hardware.serial_bus.port import find_obstacle


class FeetechFollower(ServoFollower[FeetechArm]):
    """Arms of Feetech servos; opening for calibration leaves torque as it is."""

    config: FeetechConfig
    env = "feetech"
    example = "/dev/ttyACM0"
    make_gripper = staticmethod(make_gripper)

    def __init__(self, config: FeetechConfig, robot: RobotInfo, clock: Clock) -> None:
        super().__init__(config, robot, clock)
        self._is_calibrating = False

    @classmethod
    def search(cls) -> ArmSearch:
        """Return the search for arms."""
        return FeetechSearch()

    @property
    def goes_on_unattended(self) -> bool:
        """Whether arms go on; servos hold their last goal."""
        return True

    @property
    def unchecked(self) -> str:
        """Checks that need open ports."""
        return "whether the servos answer, are calibrated and well"

    def calibrate(self, joints: Sequence[str]) -> Dialogue:
        """Calibrate opened arms, which lose their torque."""
        self._is_calibrating = True
        return self._calibrate(joints)

    def _calibrate(self, joints: Sequence[str]) -> Dialogue:
        if joints:
            raise ConfigError(
                "--joint: expected none, as arms of Feetech servos are calibrated as a "
                f"whole, got {', '.join(joints)}"
            )
        check_open("feetech", self._arms)
        arms = [arm for arm, _ in self._arms]
        names = {arm.name: self._find_calibration(arm.name) for arm in arms}
        try:
            return (yield from calibrate_arms(arms, self.robot, names))
        except BusError as err:
            raise DeviceError(describe_problems(err)) from err

    def _name_servos(self) -> Mapping[str, Collection[str]]:
        return {"env.ids": self.config.ids, "env.middles": self.config.middles}

    def _open_grippers(self) -> None:
        if not self._is_calibrating:
            super()._open_grippers()

    def _find_obstacle(self, port: str) -> str:
        return find_obstacle(port)

    def _make_arm(self, limb: LimbInfo, port: str) -> FeetechArm:
        return FeetechArm(self.config, limb, port, self.clock)

    def _open_arm(self, arm: FeetechArm) -> None:
        if self._is_calibrating:
            arm.connect()
        else:
            arm.open(self.robot, self._find_calibration(arm.name))

    def _diagnose_arm(self, arm: FeetechArm) -> Iterator[tuple[bool, str]]:
        return arm.diagnose(self.robot, self._find_calibration(arm.name))

    def _find_calibration(self, limb: str) -> str:
        return self.config.calibrations.get(limb, self.config.calibration)
