"""The follower: one UFACTORY arm per limb and control box."""

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
from paprle.contracts.kit.side_grippers import SideGripper, SideGrippers
from paprle.contracts.plugins import Clock, Follower
from paprle.contracts.types import (
    ClosePolicy,
    FollowerInfo,
    FollowerState,
    LimbInfo,
    RobotInfo,
    Vec,
)
from paprle.followers.xarm.config import XArmConfig
from paprle.followers.xarm.doctor import diagnose, list_differences
from paprle.hardware.robotiq.make import make_gripper
from paprle.hardware.vendor_arm.states import ArmError
from paprle.hardware.xarm.arm import XArm, XArmSettings

_LOG = logging.getLogger(__name__)
_INSTALL = "pip install 'paprle[xarm]'"
_SIZES = (5, 6, 7)  # spec: UFACTORY's arms
_WARM = 70  # [°C] chosen: joints stop by themselves some way above (S15)


class XArmFollower(Follower):
    """Arms on the network; ``read`` and ``write`` never wait."""

    config: XArmConfig

    def __init__(self, config: XArmConfig, robot: RobotInfo, clock: Clock) -> None:
        super().__init__(config, robot, clock)
        self._arms: list[tuple[LimbInfo, XArm, list[int], int | None]] = []
        robotiq = config.robotiq
        self._grippers = SideGrippers("xarm", robot, robotiq, self._make_gripper)
        self._told: set[str] = set()

    @property
    def goes_on_unattended(self) -> bool:
        """An arm goes to its last target unattended, and holds it."""
        return True

    @property
    def unchecked(self) -> str:
        """Checks that need a connection: answers and errors."""
        return "whether the control boxes answer and are well"

    def preflight(self) -> tuple[str, ...]:
        """Report missing addresses and limbs that are no UFACTORY arm's."""
        try:
            self._list_hosts()
            self._check_limbs()
        except DeviceError as err:
            return (str(err),)
        return ()

    def open(self) -> FollowerInfo:
        """Connect and power the arms in servo mode, without motion.

        Returns:
            The description.

        Raises:
            DeviceError: If an arm is unreachable, has an error, moves, or is another.
            MissingDependency: If the SDK is not installed.
        """
        self.close("hold")
        problems: list[str] = []
        try:
            self._check_limbs()
            hosts = self._list_hosts()
            for limb in self.robot.limbs:
                found = self._open_arm(limb, hosts[limb.name])
                problems += found or self._grippers.open(limb, "")
            if problems:
                raise DeviceError("\n".join(problems))
        except BaseException:
            self.close("hold")
            raise
        self._told.clear()
        return FollowerInfo(
            joint_names=self.robot.joint_names,
            rate=self.config.rate,
            state_rate=min(arm.state_rate for _, arm, _, _ in self._arms),
            lag=self.config.lag,
            tool_speed=min(arm.tool_speed for _, arm, _, _ in self._arms),
            has_effort=True,
            has_unattended_stop=not self.goes_on_unattended,
            power_off="brakes",
        )

    def diagnose(self) -> Iterator[tuple[bool, str]]:
        """Examine the control boxes without power or motion."""
        try:
            self._check_limbs()
            hosts = self._list_hosts()
        except DeviceError as err:
            yield False, str(err)
            return
        for limb in self.robot.limbs:
            arm = self._make_arm(limb, hosts[limb.name])
            yield from diagnose(arm, limb, self.robot)
            yield from self._grippers.diagnose(limb, "")

    def read(self) -> FollowerState:
        """Return the newest state of all arms, with the oldest stamp."""
        check_open("xarm", self._arms)
        states = [self._grippers.add(_read(*one)) for one in self._arms]
        return join_states(len(self.robot.joint_names), states)

    def write(self, q_cmd: Vec) -> None:
        """Give one target to each arm without waiting.

        Raises:
            CommandError: If its shape is wrong or it is not finite.
        """
        check_open("xarm", self._arms)
        check_target("xarm", q_cmd, len(self.robot.joint_names))
        for limb, arm, ids, finger in self._arms:
            arm.write(q_cmd[ids])
            if not arm.is_muted:
                self._grippers.write(limb.name, q_cmd)
            if finger is not None:
                arm.write_gripper(2.0 * float(q_cmd[finger]))

    def close(self, policy: ClosePolicy = "hold") -> None:
        """Leave the arms holding; ``off`` cuts their power: brakes hold."""
        self._grippers.close()
        for limb, arm, _, _ in self._arms:
            try:
                arm.close(is_powerless=policy == "off")
            except OSError:  # one arm must not keep the others open
                _LOG.exception("env 'xarm': %s could not be left", limb.name)
        self._arms = []

    def take_warnings(self) -> list[str]:
        """Return new warnings: warm joints."""
        news = []
        for limb, arm, _, _ in self._arms:
            details = arm.details
            heat = () if details is None else details.temperatures
            for joint, warmth in zip(limb.joint_names, heat, strict=False):
                if warmth >= _WARM and joint not in self._told:
                    self._told.add(joint)
                    news.append(f"{limb.name}: {joint} has {warmth} [°C]; let it rest")
        return news

    def _list_hosts(self) -> Mapping[str, str]:
        """Return each limb's control box; raise DeviceError on a mismatch."""
        config = self.config
        return assign_addresses(
            self.robot, "env.hosts", config.host, config.hosts, "192.168.1.203"
        )

    def _check_limbs(self) -> None:
        """Raise DeviceError for a robot with limbs of other sizes."""
        robot = self.robot
        sizes = [len(limb.joint_names) for limb in robot.limbs]
        n = sum(sizes) + sum(limb.gripper is not None for limb in robot.limbs)
        if not set(sizes) <= set(_SIZES) or len(robot.joint_names) != n:
            raise DeviceError(
                f"env 'xarm': expected limbs of 5, 6 or 7 joints and a gripper, got "
                f"{', '.join(robot.joint_names)}"
            )
        self._grippers.check(has_other_line=False)

    def _make_gripper(
        self, address: str, is_serial: bool, closed: float, opened: float
    ) -> SideGripper:
        return make_gripper(
            self.config.robotiq,
            address,
            is_serial=is_serial,
            closed=closed,
            opened=opened,
        )

    def _make_arm(self, limb: LimbInfo, host: str) -> XArm:
        config = self.config
        is_ours = limb.gripper is not None and not self._grippers.is_used
        return XArm(
            XArmSettings(
                host=host,
                n=len(limb.joint_names),
                rate=config.rate,
                gripper=config.gripper if is_ours else "none",
                sensitivity=config.collision_sensitivity,
                payload=config.payload,
                payload_centre=config.payload_centre,
            ),
            self.clock,
        )

    def _open_arm(self, limb: LimbInfo, host: str) -> list[str]:
        """Open one limb's arm; return what is wrong with it."""
        robot = self.robot
        ids = [robot.joint_names.index(joint) for joint in limb.joint_names]
        finger = None
        if limb.gripper is not None and not self._grippers.is_used:
            finger = robot.joint_names.index(limb.gripper.joint)
        arm = self._make_arm(limb, host)
        self._arms.append((limb, arm, ids, finger))
        try:
            arm.greet()
            different = list_differences(arm, limb, robot)
            if different:
                return [f"env 'xarm': {host}: {text}" for text in different]
            arm.open()
        except ImportError as err:
            raise MissingDependency(
                f"env 'xarm': expected {err.name}, got none; {_INSTALL}"
            ) from err
        except ArmError as err:
            return [f"env 'xarm': {err}"]
        return []


def _read(limb: LimbInfo, arm: XArm, ids: list[int], finger: int | None) -> DeviceState:
    """Return the state of one arm and its gripper, whose effort is unknown."""
    reading, reason = arm.read()
    q, dq, tau = reading.q, reading.dq, reading.tau
    held = arm.find_held(reading)
    if finger is not None and arm.gripper is not None:
        ids = [*ids, finger]
        opening = 0.5 * arm.gripper.opening
        q, held = np.append(q, opening), np.append(held, opening)
        dq, tau = np.append(dq, 0.5 * arm.gripper.speed), np.append(tau, 0.0)
        reason = reason or arm.gripper.failure
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
