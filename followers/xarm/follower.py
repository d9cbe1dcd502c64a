"""Follower: UFACTORY's arms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from paprle.contracts.errors import DeviceError
from paprle.contracts.kit.followers.limb_devices import DeviceState
from paprle.contracts.kit.followers.vendor_follower import VendorFollower
from paprle.contracts.plugins import Clock
from paprle.contracts.types import FollowerInfo, LimbInfo, RobotInfo, Vec
from paprle.followers.xarm.config import XArmConfig
from paprle.followers.xarm.doctor import diagnose, list_differences
from paprle.hardware.robotiq.make import make_gripper
from paprle.hardware.xarm.arm import XArm, XArmSettings

_SIZES = (5, 6, 7)  # spec: UFACTORY's arms
_WARM = 70  # [°C] chosen: joints stop by themselves some way above (S15)


class XArmFollower(VendorFollower[XArm]):
    """UFACTORY's arms, with their boxes' grippers."""

    config: XArmConfig
    env = "xarm"
    example = "192.168.1.203"
    extra = "xarm"
    passes_grippers = False
    make_gripper = staticmethod(make_gripper)

    def __init__(self, config: XArmConfig, robot: RobotInfo, clock: Clock) -> None:
        super().__init__(config, robot, clock)
        self._told: set[str] = set()

    @property
    def goes_on_unattended(self) -> bool:
        """Whether arms go on, to their last target."""
        return True

    @property
    def unchecked(self) -> str:
        """Checks that need a connection."""
        return "whether the control boxes answer and are well"

    def write(self, q_cmd: Vec) -> None:
        """Give each arm and gripper a target.

        Raises:
            CommandError: If its shape is wrong, or not finite.
        """
        super().write(q_cmd)
        for limb, arm, _ in self._arms:
            finger = self._find_finger(limb)
            if finger is not None:
                arm.write_gripper(2.0 * float(q_cmd[finger]))

    def take_warnings(self) -> list[str]:
        """Return new warnings of warm joints."""
        news = []
        for limb, arm, _ in self._arms:
            details = arm.details
            heat = () if details is None else details.temperatures
            for joint, warmth in zip(limb.joint_names, heat, strict=False):
                if warmth >= _WARM and joint not in self._told:
                    self._told.add(joint)
                    news.append(f"{limb.name}: {joint} has {warmth} [°C]; let it rest")
        return news

    def _describe(self) -> FollowerInfo:
        self._told.clear()
        return FollowerInfo(
            joint_names=self.robot.joint_names,
            rate=self.config.rate,
            state_rate=min(arm.state_rate for _, arm, _ in self._arms),
            lag=self.config.lag,
            tool_speed=min(arm.tool_speed for _, arm, _ in self._arms),
            has_effort=True,
            has_unattended_stop=not self.goes_on_unattended,
            power_off="brakes",
        )

    def _diagnose_arm(self, arm: XArm, limb: LimbInfo) -> Iterator[tuple[bool, str]]:
        return diagnose(arm, limb, self.robot)

    def _read_arm(self, limb: LimbInfo, arm: XArm, ids: list[int]) -> DeviceState:
        state, finger = super()._read_arm(limb, arm, ids), self._find_finger(limb)
        if finger is None or arm.gripper is None:
            return state
        opening = 0.5 * arm.gripper.opening
        return replace(
            state,
            ids=[*ids, finger],
            q=np.append(state.q, opening),
            dq=np.append(state.dq, 0.5 * arm.gripper.speed),
            tau=np.append(state.tau, 0.0),
            q_held=np.append(state.q_held, opening),
            stop_reason=state.stop_reason or arm.gripper.failure,
        )

    def _find_finger(self, limb: LimbInfo) -> int | None:
        if limb.gripper is None or self._grippers.is_used:
            return None
        return self.robot.joint_names.index(limb.gripper.joint)

    def _check_limbs(self) -> None:
        robot = self.robot
        sizes = [len(limb.joint_names) for limb in robot.limbs]
        n = sum(sizes) + sum(limb.gripper is not None for limb in robot.limbs)
        if not set(sizes) <= set(_SIZES) or len(robot.joint_names) != n:
            raise DeviceError(
                f"env 'xarm': expected limbs of 5, 6 or 7 joints and a gripper, got "
                f"{', '.join(robot.joint_names)}"
            )
        self._grippers.check()

    def _make_arm(self, limb: LimbInfo, host: str) -> XArm:
        config = self.config
        return XArm(
            XArmSettings(
                host=host,
                n=len(limb.joint_names),
                rate=config.rate,
                gripper="none" if self._find_finger(limb) is None else config.gripper,
                sensitivity=config.collision_sensitivity,
                payload=config.payload,
                payload_centre=config.payload_centre,
            ),
            self.clock,
        )

    def _open_arm(self, arm: XArm, limb: LimbInfo) -> list[str]:
        arm.greet()
        different = list_differences(arm, limb, self.robot)
        if not different:
            arm.open()
        return different
