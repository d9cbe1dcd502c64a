"""The follower: one arm of Dynamixel servos per limb and port."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping

from paprle.contracts.errors import DeviceError
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
    RobotInfo,
    Vec,
)
from paprle.followers.dynamixel.arm import DynamixelArm
from paprle.followers.dynamixel.config import DynamixelConfig
from paprle.followers.dynamixel.joint_map import list_joints
from paprle.hardware.dynamixel.models import is_small
from paprle.hardware.serial_bus.port import find_obstacle

_LOG = logging.getLogger(__name__)


class DynamixelFollower(Follower):
    """Arms on serial buses; ``read`` and ``write`` never wait."""

    config: DynamixelConfig

    def __init__(self, config: DynamixelConfig, robot: RobotInfo, clock: Clock) -> None:
        super().__init__(config, robot, clock)
        self._arms: list[tuple[DynamixelArm, list[int]]] = []
        self._problems: tuple[str, ...] = ()

    @property
    def goes_on_unattended(self) -> bool:
        """Servos whose watchdog can be trusted stop where they are; others go on."""
        config = self.config
        names = [name for limb in self.robot.limbs for name in list_joints(limb)]
        return any(is_small(config.models.get(name, config.model)) for name in names)

    def preflight(self) -> tuple[str, ...]:
        """Report missing or forbidden ports."""
        try:
            ports = self._list_ports()
        except DeviceError as err:
            return (str(err),)
        found = (find_obstacle(port) for port in ports.values())
        return tuple(f"env 'dynamixel': {text}" for text in found if text)

    @property
    def unchecked(self) -> str:
        """Checks that need open ports: answers, settings and health."""
        return "whether the servos answer, are set up for this robot and well"

    def open(self) -> FollowerInfo:
        """Connect and hold each arm where it is; return the description.

        Returns:
            The description.

        Raises:
            DeviceError: If an arm is unreachable, faulty or another one.
        """
        self.close("hold")
        problems: list[str] = []
        try:
            for limb, port in self._list_ports().items():
                arm, ids = self._make_arm(limb, port)
                self._arms.append((arm, ids))
                try:
                    arm.open(self.robot)
                except DeviceError as err:
                    problems.append(str(err))
            if problems:
                raise DeviceError("\n".join(problems))
        except BaseException:
            self.close("hold")
            raise
        return FollowerInfo(
            joint_names=self.robot.joint_names,
            rate=self.config.rate,
            lag=self.config.lag,
            sag=self.config.sag,
            has_effort=True,
            has_unattended_stop=not self.goes_on_unattended,
            power_off="falls",
        )

    def diagnose(self) -> Iterator[tuple[bool, str]]:
        """Examine the arms without torque or motion."""
        try:
            ports = self._list_ports()
        except DeviceError as err:
            yield False, str(err)
            return
        for limb, port in ports.items():
            arm, _ = self._make_arm(limb, port)
            yield from arm.diagnose()

    def read(self) -> FollowerState:
        """Return the newest state of all arms, with the oldest stamp."""
        check_open("dynamixel", self._arms)
        states = []
        for arm, ids in self._arms:
            stamp_ns, q, dq, tau = arm.read()
            states.append(
                DeviceState(
                    limb=arm.name,
                    ids=ids,
                    stamp_ns=stamp_ns,
                    q=q,
                    dq=dq,
                    tau=tau,
                    q_held=arm.find_held(),
                    stop_reason=arm.stop_reason,
                )
            )
        return join_states(len(self.robot.joint_names), states)

    def write(self, q_cmd: Vec) -> None:
        """Give one target to each arm's bus without waiting.

        Raises:
            CommandError: If its shape is wrong or it is not finite.
        """
        check_open("dynamixel", self._arms)
        check_target("dynamixel", q_cmd, len(self.robot.joint_names))
        for arm, ids in self._arms:
            arm.write(q_cmd[ids])

    def close(self, policy: ClosePolicy = "hold") -> None:
        """Leave the arms holding; ``off`` cuts their power: they fall."""
        if policy == "off" and self._arms:
            _LOG.warning("env 'dynamixel': the arms lose their power now, and fall")
        for arm, _ in self._arms:
            arm.close(is_powerless=policy == "off")
        self._problems = tuple(p for arm, _ in self._arms for p in arm.bus.problems)
        self._arms = []

    def take_warnings(self) -> list[str]:
        """Return new warnings of the buses."""
        return [text for arm, _ in self._arms for text in arm.bus.take_warnings()]

    @property
    def closing_notes(self) -> tuple[str, ...]:
        """Servos whose torque may still be on although it was to be off."""
        return self._problems

    def _list_ports(self) -> Mapping[str, str]:
        """Return each limb's port; raise DeviceError on a mismatch."""
        config = self.config
        return assign_addresses(
            self.robot, "env.ports", config.port, config.ports, "/dev/ttyUSB0"
        )

    def _make_arm(self, name: str, port: str) -> tuple[DynamixelArm, list[int]]:
        limb = next(limb for limb in self.robot.limbs if limb.name == name)
        arm = DynamixelArm(self.config, limb, port, self.clock)
        return arm, [self.robot.joint_names.index(joint) for joint in arm.names]
