"""The follower: one Franka arm per limb and control unit."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping

import numpy as np

from paprle.contracts.errors import DeviceError, MissingDependency
from paprle.contracts.kit.limb_devices import (
    DeviceState,
    assign_addresses,
    check_open,
    check_target,
    join_states,
)
from paprle.contracts.plugins import Clock, Follower
from paprle.contracts.types import (
    ClosePolicy,
    FollowerInfo,
    FollowerState,
    LimbInfo,
    RobotInfo,
    Vec,
)
from paprle.followers.franka.config import FrankaConfig
from paprle.followers.franka.doctor import diagnose
from paprle.followers.franka.naming import find_other_model
from paprle.hardware.franka.arm import FrankaArm, FrankaSettings
from paprle.hardware.vendor_arm.states import ArmError

_LOG = logging.getLogger(__name__)
_INSTALL = "pip install 'paprle[franka]'"
_SIZE = 7  # spec: joints of the maker's arms
_STATE_RATE = 500.0  # [Hz] chosen: of what its process passes on
_POOR = 0.9  # chosen: share of commands in time; less is a computer that is late


class FrankaFollower(Follower):
    """Arms on the network; ``read`` and ``write`` never wait."""

    config: FrankaConfig

    def __init__(self, config: FrankaConfig, robot: RobotInfo, clock: Clock) -> None:
        super().__init__(config, robot, clock)
        self._arms: list[tuple[LimbInfo, FrankaArm, list[int], int | None]] = []
        self._told: set[str] = set()

    @property
    def unchecked(self) -> str:
        """Checks that need a connection: answers and errors."""
        return "whether the control units answer and are well"

    def preflight(self) -> tuple[str, ...]:
        """Report missing addresses and limbs that are no arm of this SDK."""
        try:
            self._list_hosts()
            self._check_limbs()
        except DeviceError as err:
            return (str(err),)
        return ()

    def open(self) -> FollowerInfo:
        """Connect and start to command the arms where they are, without motion.

        Returns:
            The description.

        Raises:
            DeviceError: If an arm is unreachable, has an error, or moves.
            MissingDependency: If the SDK is not installed.
        """
        self.close("hold")
        problems: list[str] = []
        try:
            self._check_limbs()
            hosts = self._list_hosts()
            for limb in self.robot.limbs:
                problems += self._open_arm(limb, hosts[limb.name])
            if problems:
                raise DeviceError("\n".join(problems))
        except BaseException:
            self.close("hold")
            raise
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

    def diagnose(self) -> Iterator[tuple[bool, str]]:
        """Examine the control units without motion."""
        try:
            self._check_limbs()
            hosts = self._list_hosts()
        except DeviceError as err:
            yield False, str(err)
            return
        for limb in self.robot.limbs:
            yield from diagnose(self._make_arm(limb, hosts[limb.name]), limb)

    def read(self) -> FollowerState:
        """Return the newest state of all arms, with the oldest stamp."""
        check_open("franka", self._arms)
        states = [_read(*one) for one in self._arms]
        return join_states(len(self.robot.joint_names), states)

    def write(self, q_cmd: Vec) -> None:
        """Give one goal to each arm without waiting.

        Raises:
            CommandError: If its shape is wrong or it is not finite.
        """
        check_open("franka", self._arms)
        check_target("franka", q_cmd, len(self.robot.joint_names))
        for _, arm, ids, finger in self._arms:
            arm.write(q_cmd[ids])
            if finger is not None and arm.hand is not None and not arm.is_muted:
                arm.hand.write(2.0 * float(q_cmd[finger]))

    def close(self, policy: ClosePolicy = "hold") -> None:
        """Leave the arms holding; the unit has no command that takes their power."""
        for limb, arm, _, _ in self._arms:
            try:
                arm.close(is_powerless=policy == "off")
            except OSError:  # one arm must not keep the others open
                _LOG.exception("env 'franka': %s could not be left", limb.name)
        self._arms = []

    def take_warnings(self) -> list[str]:
        """Return new warnings: commands that come too late."""
        news = []
        for limb, arm, _, _ in self._arms:
            is_late = arm.is_commanded and arm.success_rate < _POOR
            if is_late and limb.name not in self._told:
                self._told.add(limb.name)
                news.append(
                    f"{limb.name}: {100 * (1 - arm.success_rate):.0f} % of commands "
                    "come too late; the arm stops after 20 in a row: use a kernel "
                    "with PREEMPT_RT, and leave the computer a core"
                )
        return news

    def _list_hosts(self) -> Mapping[str, str]:
        """Return each limb's control unit; raise DeviceError on a mismatch."""
        config = self.config
        return assign_addresses(
            self.robot, "env.hosts", config.host, config.hosts, "172.16.0.2"
        )

    def _check_limbs(self) -> None:
        """Raise DeviceError for a robot with limbs of other sizes."""
        robot = self.robot
        sizes = [len(limb.joint_names) for limb in robot.limbs]
        n = sum(sizes) + sum(limb.gripper is not None for limb in robot.limbs)
        if set(sizes) != {_SIZE} or len(robot.joint_names) != n:
            raise DeviceError(
                f"env 'franka': expected limbs of 7 joints and a gripper, got "
                f"{', '.join(robot.joint_names)}"
            )
        other = find_other_model(robot.name)
        if other:
            raise DeviceError(f"env 'franka': {other}")

    def _make_arm(self, limb: LimbInfo, host: str) -> FrankaArm:
        config = self.config
        return FrankaArm(
            FrankaSettings(
                host=host,
                rate=config.rate,
                has_hand=limb.gripper is not None and config.hand,
                grasp_force=config.grasp_force,
                collision_torque=config.collision_torque,
                collision_force=config.collision_force,
            ),
            self.clock,
        )

    def _open_arm(self, limb: LimbInfo, host: str) -> list[str]:
        """Open one limb's arm; return what is wrong with it."""
        robot = self.robot
        ids = [robot.joint_names.index(joint) for joint in limb.joint_names]
        finger = None
        if limb.gripper is not None:
            finger = robot.joint_names.index(limb.gripper.joint)
        arm = self._make_arm(limb, host)
        self._arms.append((limb, arm, ids, finger))
        try:
            arm.open()
        except ImportError as err:
            raise MissingDependency(
                f"env 'franka': expected {err.name}, got none; {_INSTALL}"
            ) from err
        except ArmError as err:
            return [f"env 'franka': {err}"]
        return []


def _read(
    limb: LimbInfo, arm: FrankaArm, ids: list[int], finger: int | None
) -> DeviceState:
    """Return the state of one arm and its hand, whose effort is unknown."""
    reading, reason = arm.read()
    q, dq, tau = reading.q, reading.dq, reading.tau
    held = arm.find_held(reading)
    if finger is not None:
        ids = [*ids, finger]
        opening = speed = 0.0
        if arm.hand is not None:
            arm.hand.read()
            opening, speed = 0.5 * arm.hand.width, 0.5 * arm.hand.speed
            reason = reason or arm.hand.failure
        q, held = np.append(q, opening), np.append(held, opening)
        dq, tau = np.append(dq, speed), np.append(tau, 0.0)
    return DeviceState(
        limb=limb.name,
        ids=ids,
        stamp_ns=reading.stamp_ns,
        q=q,
        dq=dq,
        tau=tau,
        q_held=held,
        stop_reason=reason,
    )
