"""Follower: Franka's arms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from paprle.contracts.errors import DeviceError
from paprle.contracts.kit.followers.limb_devices import DeviceState
from paprle.contracts.kit.followers.vendor_follower import VendorFollower
from paprle.contracts.plugins import Clock
from paprle.contracts.types import FollowerInfo, LimbInfo, RobotInfo, Vec
from paprle.followers.franka.config import FrankaConfig
from paprle.followers.franka.doctor import diagnose
from paprle.followers.franka.naming import find_model
from paprle.hardware.franka.arm import FrankaArm, FrankaSettings
from paprle.hardware.robotiq.make import make_gripper

_SIZE = 7  # spec: joints of the maker's arms
_STATE_RATE = 500.0  # [Hz] chosen: of what its process passes on
_POOR = 0.9  # chosen: share of commands in time; less is a computer that is late


class FrankaFollower(VendorFollower[FrankaArm]):
    """Franka's arms and hands, which hold when closed."""

    config: FrankaConfig
    env = "franka"
    example = "172.16.0.2"
    passes_grippers = False
    make_gripper = staticmethod(make_gripper)

    def __init__(self, config: FrankaConfig, robot: RobotInfo, clock: Clock) -> None:
        super().__init__(config, robot, clock)
        self._told: set[str] = set()
        self._model = find_model(robot.name)
        self.extra = self._model.extra

    @property
    def unchecked(self) -> str:
        """Checks that need a connection."""
        return "whether the control units answer and are well"

    def write(self, q_cmd: Vec) -> None:
        """Give each arm and hand a goal.

        Raises:
            CommandError: If its shape is wrong, or not finite.
        """
        super().write(q_cmd)
        for limb, arm, _ in self._arms:
            finger = self._find_finger(limb)
            if finger is not None and arm.hand is not None and not arm.is_muted:
                arm.hand.write(2.0 * float(q_cmd[finger]))

    def take_warnings(self) -> list[str]:
        """Return new warnings of late commands."""
        news = []
        for limb, arm, _ in self._arms:
            is_late = arm.is_commanded and arm.success_rate < _POOR
            if is_late and limb.name not in self._told:
                self._told.add(limb.name)
                news.append(
                    f"{limb.name}: {100 * (1 - arm.success_rate):.0f} % of commands "
                    "come too late; the arm stops after 20 in a row: use a kernel "
                    "with PREEMPT_RT, and leave the computer a core"
                )
        return news

    def _describe(self) -> FollowerInfo:
        self._told.clear()
        return FollowerInfo(
            joint_names=self.robot.joint_names,
            rate=self.config.rate,
            state_rate=_STATE_RATE,
            lag=self.config.lag,
            has_effort=True,
            has_unattended_stop=True,
            power_off="brakes",
        )

    def _diagnose_arm(
        self, arm: FrankaArm, limb: LimbInfo
    ) -> Iterator[tuple[bool, str]]:
        return diagnose(arm, limb)

    def _read_arm(self, limb: LimbInfo, arm: FrankaArm, ids: list[int]) -> DeviceState:
        state, finger = super()._read_arm(limb, arm, ids), self._find_finger(limb)
        if finger is None:
            return state
        opening, speed, failure = 0.0, 0.0, ""
        if arm.hand is not None:
            arm.hand.read()
            opening, speed = 0.5 * arm.hand.width, 0.5 * arm.hand.speed
            failure = arm.hand.failure
        return replace(
            state,
            ids=[*state.ids, finger],
            q=np.append(state.q, opening),
            dq=np.append(state.dq, speed),
            tau=np.append(state.tau, 0.0),
            q_held=np.append(state.q_held, opening),
            stop_reason=state.stop_reason or failure,
        )

    def _find_finger(self, limb: LimbInfo) -> int | None:
        if limb.gripper is None or self._grippers.is_used:
            return None
        return self.robot.joint_names.index(limb.gripper.joint)

    def _check_limbs(self) -> None:
        robot = self.robot
        sizes = [len(limb.joint_names) for limb in robot.limbs]
        n = sum(sizes) + sum(limb.gripper is not None for limb in robot.limbs)
        if set(sizes) != {_SIZE} or len(robot.joint_names) != n:
            raise DeviceError(
                f"env 'franka': expected limbs of 7 joints and a gripper, got "
                f"{', '.join(robot.joint_names)}"
            )
        self._grippers.check()

    def _make_arm(self, limb: LimbInfo, host: str) -> FrankaArm:
        config = self.config
        return FrankaArm(
            FrankaSettings(
                host=host,
                model=self._model.name,
                rate=config.rate,
                has_hand=self._find_finger(limb) is not None and config.hand,
                grasp_force=config.grasp_force,
                collision_torque=config.collision_torque,
                collision_force=config.collision_force,
            ),
            self.clock,
        )

    def _open_arm(self, arm: FrankaArm, limb: LimbInfo) -> list[str]:
        del limb
        arm.open()
        return []
