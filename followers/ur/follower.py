"""The follower: one Universal Robots arm per limb and controller."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping

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
from paprle.followers.ur.config import UrConfig
from paprle.followers.ur.doctor import diagnose
from paprle.followers.ur.naming import find_other_model
from paprle.hardware.robotiq.make import make_gripper
from paprle.hardware.ur.arm import UrArm, UrSettings
from paprle.hardware.vendor_arm.states import ArmError

N_JOINTS = 6
_LOG = logging.getLogger(__name__)
_INSTALL = "pip install 'paprle[ur]'"
_FULL = 0.995  # chosen: of the slider's speed; the pendant shows whole percents


class UrFollower(Follower):
    """Arms on the network; ``read`` and ``write`` never wait."""

    config: UrConfig

    def __init__(self, config: UrConfig, robot: RobotInfo, clock: Clock) -> None:
        super().__init__(config, robot, clock)
        self._arms: list[tuple[str, UrArm, list[int]]] = []
        self._grippers = SideGrippers("ur", robot, config.robotiq, self._make_gripper)
        self._speeds: dict[str, float] = {}
        self._news: list[str] = []

    @property
    def unchecked(self) -> str:
        """Checks that need a connection: power, safety and remote control."""
        return "whether the controllers answer, are in remote control and well"

    def preflight(self) -> tuple[str, ...]:
        """Report missing addresses and limbs that are no UR's."""
        try:
            self._list_hosts()
            self._check_limbs()
        except DeviceError as err:
            return (str(err),)
        return ()

    def open(self) -> FollowerInfo:
        """Connect, give the arms power and start their programs, without motion.

        Returns:
            The description.

        Raises:
            DeviceError: If an arm is unreachable, stopped, in local control, or
                another model.
            MissingDependency: If ur_rtde is not installed.
        """
        self.close("hold")
        problems: list[str] = []
        try:
            self._check_limbs()
            hosts = self._list_hosts()
            for limb in self.robot.limbs:
                found = self._open_arm(limb, hosts[limb.name])
                problems += found or self._grippers.open(limb, hosts[limb.name])
            if problems:
                raise DeviceError("\n".join(problems))
        except BaseException:
            self.close("hold")
            raise
        return FollowerInfo(
            joint_names=self.robot.joint_names,
            rate=self.config.rate,
            lag=self.config.lag,
            has_effort=True,
            has_unattended_stop=True,
            power_off="brakes",
        )

    def diagnose(self) -> Iterator[tuple[bool, str]]:
        """Examine the controllers without power or motion."""
        try:
            self._check_limbs()
            hosts = self._list_hosts()
        except DeviceError as err:
            yield False, str(err)
            return
        for limb in self.robot.limbs:
            host = hosts[limb.name]
            yield from diagnose(self._make_arm(host), limb.name, self.robot.name)
            yield from self._grippers.diagnose(limb, host)

    def read(self) -> FollowerState:
        """Return the newest state of all arms, with the oldest stamp."""
        check_open("ur", self._arms)
        states = []
        for limb, arm, ids in self._arms:
            reading, reason = arm.read()
            state = DeviceState(
                limb=limb,
                ids=ids,
                stamp_ns=reading.stamp_ns,
                q=reading.q,
                dq=reading.dq,
                tau=reading.tau,
                q_held=arm.find_held(reading),
                stop_reason=reason,
            )
            states.append(self._grippers.add(state))
            self._note_speed(limb, reading.speed)
        return join_states(len(self.robot.joint_names), states)

    def write(self, q_cmd: Vec) -> None:
        """Give one goal to each arm without waiting.

        Raises:
            CommandError: If its shape is wrong or it is not finite.
        """
        check_open("ur", self._arms)
        check_target("ur", q_cmd, len(self.robot.joint_names))
        for limb, arm, ids in self._arms:
            arm.write(q_cmd[ids])
            if not arm.is_muted:
                self._grippers.write(limb, q_cmd)

    def close(self, policy: ClosePolicy = "hold") -> None:
        """Leave the arms holding; ``off`` cuts their power: brakes hold."""
        self._grippers.close()
        for limb, arm, _ in self._arms:
            try:
                arm.close(is_powerless=policy == "off")
            except ArmError:  # one arm must not keep the others open
                _LOG.exception("env 'ur': %s could not be left", limb)
        self._arms = []

    def take_warnings(self) -> list[str]:
        """Return new warnings: speed sliders."""
        told, self._news = self._news, []
        return told

    def _note_speed(self, limb: str, speed: float) -> None:
        if speed == self._speeds.get(limb, 1.0):
            return
        self._speeds[limb] = speed
        if speed < _FULL:
            self._news.append(
                f"{limb}: the speed slider is at {speed:.0%}: the arm falls behind "
                "fast motions and catches up late; raise it at the pendant"
            )

    def _list_hosts(self) -> Mapping[str, str]:
        """Return each limb's controller; raise DeviceError on a mismatch."""
        config = self.config
        return assign_addresses(
            self.robot, "env.hosts", config.host, config.hosts, "192.168.1.10"
        )

    def _check_limbs(self) -> None:
        """Raise DeviceError for limbs of other joints, or another gripper."""
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

    def _make_arm(self, host: str) -> UrArm:
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
            ),
            self.clock,
        )

    def _open_arm(self, limb: LimbInfo, host: str) -> list[str]:
        """Open one limb's arm; return what is wrong with it."""
        ids = [self.robot.joint_names.index(joint) for joint in limb.joint_names]
        arm = self._make_arm(host)
        self._arms.append((limb.name, arm, ids))
        try:
            arm.open()
        except ImportError as err:
            raise MissingDependency(
                f"env 'ur': expected {err.name}, got none; {_INSTALL}"
            ) from err
        except ArmError as err:
            return [f"env 'ur': {err}"]
        other = find_other_model(self.robot.name, arm.identity.model)
        return [f"env 'ur': {host}: {other}"] if other else []
