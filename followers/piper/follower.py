"""Follower: one PiPER per limb and channel."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace

from paprle.contracts.errors import DeviceError
from paprle.contracts.kit.followers.limb_devices import (
    DeviceState,
    assign_addresses,
    check_open,
    check_target,
    join_states,
)
from paprle.contracts.kit.followers.side_grippers import SideGrippers
from paprle.contracts.plugins import Clock, Follower
from paprle.contracts.types import (
    ClosePolicy,
    FollowerInfo,
    FollowerState,
    RobotInfo,
    Vec,
)
from paprle.followers.piper.arm import N_ARM, PiperArm
from paprle.followers.piper.config import PiperConfig
from paprle.followers.piper.doctor import diagnose
from paprle.hardware.can_channel.channels import (
    USB,
    BusError,
    find_channel,
    find_obstacle,
    find_stable_name,
)
from paprle.hardware.robotiq.make import make_gripper

_LOG = logging.getLogger(__name__)


class PiperFollower(Follower):
    """Arms on CAN; ``read`` and ``write`` never wait."""

    config: PiperConfig

    def __init__(self, config: PiperConfig, robot: RobotInfo, clock: Clock) -> None:
        super().__init__(config, robot, clock)
        self._arms: list[tuple[PiperArm, list[int]]] = []
        self._news: list[str] = []
        self._grippers = SideGrippers("can", robot, config.robotiq, make_gripper)

    @property
    def goes_on_unattended(self) -> bool:
        """Whether arms go on, to their last target."""
        return True

    def preflight(self) -> tuple[str, ...]:
        """Report missing or inactive channels."""
        try:
            channels = self._list_channels()
        except DeviceError as err:
            return (str(err),)
        interface = self.config.interface
        found = (find_obstacle(interface, channel) for channel in channels)
        return tuple(f"env 'can': {text}" for text in found if text)

    @property
    def unchecked(self) -> str:
        """Checks that need open channels."""
        return "whether the arms answer and are well"

    def open(self) -> FollowerInfo:
        """Return the description, without motion.

        Raises:
            DeviceError: If an arm is unreachable, faulty, or commanded by another.
        """
        self.close("hold")
        try:
            channels = self._list_channels()
            problems = self._grippers.open_all()
            if problems:  # before an arm has power
                raise DeviceError("\n".join(problems))
            for number, channel in enumerate(channels):
                self._open_arm(number, channel)
        except BaseException:
            self.close("hold")
            raise
        self._news = self._warn_of_order()
        return FollowerInfo(
            joint_names=self.robot.joint_names,
            rate=self.config.rate,
            lag=self.config.lag,
            has_effort=True,
            has_unattended_stop=not self.goes_on_unattended,
            power_off="falls",
        )

    def diagnose(self) -> Iterator[tuple[bool, str]]:
        """Examine the arms without power or motion."""
        try:
            channels = self._list_channels()
        except DeviceError as err:
            yield False, str(err)
            return
        for limb, channel in zip(self._grippers.limbs, channels, strict=True):
            has_gripper = limb.gripper is not None
            yield from diagnose(
                self.config, limb.name, channel, self.clock, has_gripper=has_gripper
            )
        yield from self._grippers.diagnose_all()
        for text in self._warn_of_order():
            yield False, text

    def read(self) -> FollowerState:
        """Return the newest state; the oldest arm's stamp."""
        check_open("can", self._arms)
        states = []
        for arm, ids in self._arms:
            stamp_ns, q, dq, tau = arm.read()
            one = DeviceState(
                limb=arm.name,
                ids=ids,
                stamp_ns=stamp_ns,
                q=q,
                dq=dq,
                tau=tau,
                q_held=arm.find_held(q),
                stop_reason=arm.stop_reason,
            )
            states.append(self._grippers.add(one))
        state = join_states(len(self.robot.joint_names), states)
        return state if self._is_behind else replace(state, q_held=None)

    @property
    def _is_behind(self) -> bool:
        return any(arm.is_behind for arm, _ in self._arms)

    def write(self, q_cmd: Vec) -> None:
        """Send one target to each arm.

        Raises:
            CommandError: If its shape is wrong, or not finite.
        """
        check_open("can", self._arms)
        check_target("can", q_cmd, len(self.robot.joint_names))
        for arm, ids in self._arms:
            arm.write(q_cmd[ids])
            if not arm.is_muted:
                self._grippers.write(arm.name, q_cmd)

    def close(self, policy: ClosePolicy = "hold") -> None:
        """Leave the arms holding; ``off`` lets them fall."""
        if policy == "off" and self._arms:
            _LOG.warning("env 'can': the arms lose their power now, and fall")
        for arm, _ in self._arms:
            try:
                arm.close(is_powerless=policy == "off")
            except BusError:  # one bus must not keep the others open
                _LOG.exception("env 'can': a bus could not be closed")
        self._arms = []
        self._grippers.close()

    def take_warnings(self) -> list[str]:
        """Return new warnings: warm motors, unset grippers."""
        is_one = len(self._arms) == 1
        told, self._news = self._news, []
        return told + [
            text if is_one else f"{arm.name}: {text}"
            for arm, _ in self._arms
            for text in arm.take_warnings()
        ]

    def _list_channels(self) -> list[str]:
        config = self.config
        found = assign_addresses(
            self.robot, "env.channels", config.channel, config.channels, "can0"
        )
        self._grippers.check(taken=found.values())  # slcan is a serial port, too
        return [self._find(channel) for channel in found.values()]

    @staticmethod
    def _find(channel: str) -> str:
        try:
            return find_channel(channel)
        except BusError as err:
            raise DeviceError(f"env 'can': {err}") from err

    def _warn_of_order(self) -> list[str]:
        config = self.config
        found = {
            limb: (channel, find_stable_name(config.interface, channel))
            for limb, channel in config.channels.items()
            if not channel.startswith(USB)
        }
        moving = {limb: pair for limb, pair in found.items() if pair[1]}
        if len(config.channels) < 2 or not moving:
            return []
        today = ", ".join(f"{limb} is {pair[0]}" for limb, pair in moving.items())
        words = " ".join(f"env.channels.{limb}={p[1]}" for limb, p in moving.items())
        return [
            f"env 'can': {today} by the order in which they were plugged in, which may "
            f"be another one next time: once you have seen that it is right, write "
            f"{words}"
        ]

    def _open_arm(self, number: int, channel: str) -> None:
        robot, limb = self.robot, self._grippers.limbs[number]
        names = [*limb.joint_names, *([limb.gripper.joint] if limb.gripper else [])]
        if len(limb.joint_names) != N_ARM or len(robot.joint_names) != sum(
            len(other.joint_names) + bool(other.gripper) for other in robot.limbs
        ):
            raise DeviceError(
                f"env 'can': expected limbs of {N_ARM} joints and a gripper, got "
                f"{', '.join(robot.joint_names)}; '{robot.name}' is no PiPER"
            )
        ids = [robot.joint_names.index(name) for name in names]
        arm = PiperArm(self.config, limb, channel, self.clock)
        self._arms.append((arm, ids))
        joints = ids[:N_ARM]
        arm.open(robot.home[joints], robot.q_min[joints], robot.q_max[joints])
