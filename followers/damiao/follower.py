"""Follower: arms of Damiao motors."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from paprle.contracts.errors import DeviceError, MissingDependency
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
    LimbInfo,
    RobotInfo,
    Vec,
)
from paprle.contracts.urdf.gravity import Gravity
from paprle.followers.damiao.config import DamiaoConfig
from paprle.followers.damiao.grip import Grip
from paprle.hardware.can_channel.channels import find_channel, find_obstacle
from paprle.hardware.damiao.arm import DamiaoArm
from paprle.hardware.damiao.examination import examine
from paprle.hardware.damiao.models import ARMS
from paprle.hardware.damiao.powered import ArmSettings
from paprle.hardware.robotiq.make import make_gripper
from paprle.hardware.vendor_arm.states import ArmError

_LOG = logging.getLogger(__name__)
_INSTALL = "pip install 'paprle[damiao]'"
_WARM = 70  # [°C] chosen: motors stop by themselves at 100
_STEP = 5  # [°C] chosen: told again when it goes on


class DamiaoFollower(Follower):
    """Torque arms on CAN; ``read`` and ``write`` never wait."""

    config: DamiaoConfig

    def __init__(self, config: DamiaoConfig, robot: RobotInfo, clock: Clock) -> None:
        super().__init__(config, robot, clock)
        self._arms: list[tuple[LimbInfo, DamiaoArm, list[int], Grip | None]] = []
        self._told: dict[tuple[str, int], int] = {}
        self._grippers = SideGrippers("damiao", robot, config.robotiq, make_gripper)

    @property
    def unchecked(self) -> str:
        """Checks that need open channels."""
        return "whether the motors answer and are well"

    def preflight(self) -> tuple[str, ...]:
        """Report missing or inactive channels, and other limbs."""
        try:
            self._check_limbs()
            channels = self._list_channels()
        except DeviceError as err:
            return (str(err),)
        interface = self.config.interface
        found = (find_obstacle(interface, channel) for channel in channels)
        return tuple(f"env 'damiao': {text}" for text in found if text)

    def open(self) -> FollowerInfo:
        """Return the description; arms get torque in place.

        Raises:
            DeviceError: If a motor is silent, faulty, another, or commanded by others.
        """
        self.close("hold")
        try:
            self._check_limbs()
            problems = self._open_all()
            if problems:
                raise DeviceError("\n".join(problems))
        except BaseException:
            self.close("hold")
            raise
        self._told.clear()
        return FollowerInfo(
            joint_names=self.robot.joint_names,
            rate=self.config.rate,
            lag=self.config.lag,
            has_effort=True,
            has_unattended_stop=True,
            power_off="falls",
        )

    def diagnose(self) -> Iterator[tuple[bool, str]]:
        """Examine the motors without torque or motion."""
        try:
            self._check_limbs()
            channels = self._list_channels()
        except DeviceError as err:
            yield False, str(err)
            return
        for limb, channel in zip(self._grippers.limbs, channels, strict=True):
            yield from examine(self._make_arm(limb, channel).bus, limb.name)
        yield from self._grippers.diagnose_all()

    def read(self) -> FollowerState:
        """Return the newest state; the oldest arm's stamp."""
        check_open("damiao", self._arms)
        states = [self._grippers.add(_read(*one)) for one in self._arms]
        state = join_states(len(self.robot.joint_names), states)
        is_behind = any(arm.is_behind for _, arm, _, _ in self._arms)
        return state if is_behind else replace(state, q_held=None)

    def write(self, q_cmd: Vec) -> None:
        """Give one target to each arm.

        Raises:
            CommandError: If its shape is wrong, or not finite.
        """
        check_open("damiao", self._arms)
        check_target("damiao", q_cmd, len(self.robot.joint_names))
        for limb, arm, ids, grip in self._arms:
            goal = q_cmd[ids]
            if grip is not None:
                goal[-1] = grip.to_motor(float(goal[-1]))
            arm.write(goal)
            if not arm.is_muted:
                self._grippers.write(limb.name, q_cmd)

    def close(self, policy: ClosePolicy = "hold") -> None:
        """Let the arms sink slowly; ``off`` lets them fall."""
        if policy == "off" and self._arms:
            _LOG.warning("env 'damiao': the arms lose their torque now, and fall")
        for limb, arm, _, _ in self._arms:
            try:
                arm.close(is_powerless=policy == "off")
            except OSError:  # one arm must not keep the others open
                _LOG.exception("env 'damiao': %s could not be left", limb.name)
        self._arms = []
        self._grippers.close()

    def take_warnings(self) -> list[str]:
        """Return new warnings of warm motors."""
        news = []
        for limb, arm, _, _ in self._arms:
            for number, warmth in enumerate(arm.list_warmth(), start=1):
                key = (limb.name, number)
                if warmth >= self._told.get(key, _WARM):
                    self._told[key] = warmth + _STEP
                    news.append(
                        f"{limb.name}: motor {number} has {warmth} [°C], and loses its "
                        "torque when it is too hot; let it rest"
                    )
        return news

    def _list_channels(self) -> list[str]:
        config = self.config
        found = assign_addresses(
            self.robot, "env.channels", config.channel, config.channels, "can0"
        )
        try:
            return [find_channel(channel) for channel in found.values()]
        except OSError as err:
            raise DeviceError(f"env 'damiao': {err}") from err

    def _check_limbs(self) -> None:
        robot, n = self.robot, ARMS[self.config.model].n
        sizes = [len(limb.joint_names) for limb in robot.limbs]
        total = sum(sizes) + sum(limb.gripper is not None for limb in robot.limbs)
        if set(sizes) != {n} or len(robot.joint_names) != total:
            raise DeviceError(
                f"env 'damiao': expected limbs of {n} joints and a gripper, as "
                f"'{self.config.model}' has them, got {', '.join(robot.joint_names)}"
            )
        self._grippers.check()

    def _make_arm(self, limb: LimbInfo, channel: str) -> DamiaoArm:
        config = self.config
        settings = ArmSettings(
            interface=config.interface,
            channel=channel,
            model=ARMS[config.model],
            has_gripper=limb.gripper is not None,
            rate=config.rate,
            timeout=config.timeout,
            descent=config.descent,
        )
        robot = self.robot
        home = robot.name_positions(robot.home)
        gravity = Gravity(robot.urdf_path, limb.joint_names, home)
        return DamiaoArm(settings, gravity.compute, self.clock)

    def _open_all(self) -> list[str]:
        limbs, channels = self._grippers.limbs, self._list_channels()
        problems = self._grippers.open_all()
        if problems:  # before an arm has torque, which it would lose again
            return problems
        both = zip(limbs, channels, strict=True)
        return [text for one in both for text in self._open_arm(*one)]

    def _open_arm(self, limb: LimbInfo, channel: str) -> list[str]:
        names = [*limb.joint_names]
        grip = None
        if limb.gripper is not None:
            names.append(limb.gripper.joint)
            grip = Grip.of(limb.gripper, ARMS[self.config.model])
        ids = [self.robot.joint_names.index(name) for name in names]
        arm = self._make_arm(limb, channel)
        self._arms.append((limb, arm, ids, grip))
        try:
            arm.open()
        except ImportError as err:
            raise MissingDependency(
                f"env 'damiao': expected {err.name}, got none; {_INSTALL}"
            ) from err
        except ArmError as err:
            return [f"env 'damiao': {line}" for line in str(err).split("\n")]
        return []


def _read(
    limb: LimbInfo, arm: DamiaoArm, ids: list[int], grip: Grip | None
) -> DeviceState:
    reading, reason = arm.read()
    q, dq, tau, held = reading.q, reading.dq, reading.tau, arm.held.copy()
    if grip is not None:
        q[-1], held[-1] = grip.to_joint(q[-1]), grip.to_joint(held[-1])
        dq[-1], tau[-1] = dq[-1] / grip.ratio, tau[-1] * grip.ratio
    return DeviceState(
        limb=limb.name,
        ids=ids,
        stamp_ns=reading.stamp_ns,
        q=np.array(q),
        dq=np.array(dq),
        tau=np.array(tau),
        q_held=held,
        stop_reason=reason,
    )
