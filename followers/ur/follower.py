"""Follower: Universal Robots' arms."""

from __future__ import annotations

from collections.abc import Iterator

from paprle.contracts.errors import DeviceError
from paprle.contracts.kit.followers.vendor_follower import VendorFollower
from paprle.contracts.plugins import Clock
from paprle.contracts.types import FollowerInfo, LimbInfo, RobotInfo
from paprle.followers.ur.config import UrConfig
from paprle.followers.ur.doctor import diagnose
from paprle.followers.ur.naming import find_other_model
from paprle.hardware.robotiq.make import make_gripper
from paprle.hardware.ur.arm import UrArm, UrSettings
from paprle.hardware.vendor_arm.arm import Reading

N_JOINTS = 6
_FULL = 0.995  # chosen: of the slider's speed; the pendant shows whole percents


class UrFollower(VendorFollower[UrArm]):
    """Arms of Universal Robots."""

    config: UrConfig
    env = "ur"
    example = "192.168.1.10"
    extra = "ur"
    passes_grippers = True
    make_gripper = staticmethod(make_gripper)

    def __init__(self, config: UrConfig, robot: RobotInfo, clock: Clock) -> None:
        super().__init__(config, robot, clock)
        self._speeds: dict[str, float] = {}
        self._news: list[str] = []

    @property
    def unchecked(self) -> str:
        """Checks that need a connection."""
        return "whether the controllers answer, are in remote control and well"

    def take_warnings(self) -> list[str]:
        """Return new warnings of speed sliders."""
        told, self._news = self._news, []
        return told

    def _describe(self) -> FollowerInfo:
        return FollowerInfo(
            joint_names=self.robot.joint_names,
            rate=self.config.rate,
            lag=self.config.lag,
            has_effort=True,
            has_unattended_stop=True,
            power_off="brakes",
        )

    def _diagnose_arm(self, arm: UrArm, limb: LimbInfo) -> Iterator[tuple[bool, str]]:
        return diagnose(arm, limb.name, self.robot.name)

    def _note(self, limb: LimbInfo, reading: Reading) -> None:
        speed = reading.speed
        if speed == self._speeds.get(limb.name, 1.0):
            return
        self._speeds[limb.name] = speed
        if speed < _FULL:
            self._news.append(
                f"{limb.name}: the speed slider is at {speed:.0%}: the arm falls "
                "behind fast motions and catches up late; raise it at the pendant"
            )

    def _check_limbs(self) -> None:
        robot, grippers = self.robot, self._grippers
        sizes = [len(limb.joint_names) for limb in robot.limbs]
        n_hands = sum(limb.gripper is not None for limb in robot.limbs)
        is_ur = sizes == [N_JOINTS] * len(sizes)
        if not is_ur or len(robot.joint_names) != sum(sizes) + n_hands:
            raise DeviceError(
                f"env 'ur': expected limbs of {N_JOINTS} joints and a gripper, got "
                f"{', '.join(robot.joint_names)}"
            )
        if n_hands and not grippers.is_used:
            raise DeviceError(
                f"env.robotiq.model: expected the gripper of '{robot.name}', got none; "
                "name it, or write follower.limbs.<name>.gripper=null"
            )
        grippers.check(has_other_line=True)

    def _make_arm(self, limb: LimbInfo, host: str) -> UrArm:  # noqa: ARG002 - all alike
        config = self.config
        return UrArm(
            UrSettings(
                host=host,
                rate=config.rate,
                lookahead=config.lookahead_time,
                gain=config.gain,
                watchdog=config.watchdog,
                payload=config.payload,
                payload_centre=config.payload_centre,
                freedrive_input=config.freedrive_input,
            ),
            self.clock,
        )

    def _open_arm(self, arm: UrArm, limb: LimbInfo) -> list[str]:  # noqa: ARG002
        arm.open()
        other = find_other_model(self.robot.name, arm.identity.model)
        return [other] if other else []
