"""The follower: one arm of Feetech servos per limb and port."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence

from paprle.contracts.device import Dialogue
from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.kit.limb_devices import (
    DeviceState,
    assign_addresses,
    check_open,
    check_target,
    join_states,
)
from paprle.contracts.plugins import ArmSearch, Clock, Follower
from paprle.contracts.types import (
    ClosePolicy,
    FollowerInfo,
    FollowerState,
    RobotInfo,
    Vec,
)
from paprle.followers.feetech.arm import FeetechArm, describe_problems
from paprle.followers.feetech.calibration import calibrate_arms
from paprle.followers.feetech.config import FeetechConfig
from paprle.followers.feetech.search import FeetechSearch
from paprle.hardware.feetech.errors import BusError
from paprle.hardware.serial_bus.port import find_obstacle

_LOG = logging.getLogger(__name__)


class FeetechFollower(Follower):
    """Arms on serial buses; ``read`` and ``write`` never wait."""

    config: FeetechConfig

    def __init__(self, config: FeetechConfig, robot: RobotInfo, clock: Clock) -> None:
        super().__init__(config, robot, clock)
        self._arms: list[tuple[FeetechArm, list[int]]] = []
        self._problems: tuple[str, ...] = ()
        self._is_calibrating = False

    @classmethod
    def search(cls) -> ArmSearch:
        """Return the search for arms of Feetech servos."""
        return FeetechSearch()

    @property
    def goes_on_unattended(self) -> bool:
        """A servo goes to its last goal and holds it."""
        return True

    def preflight(self) -> tuple[str, ...]:
        """Report missing or forbidden ports."""
        try:
            ports = self._list_ports()
        except DeviceError as err:
            return (str(err),)
        found = (find_obstacle(port) for port in ports.values())
        return tuple(f"env 'feetech': {text}" for text in found if text)

    @property
    def unchecked(self) -> str:
        """Checks that need open ports: answers, calibration and health."""
        return "whether the servos answer, are calibrated and well"

    def open(self) -> FollowerInfo:
        """Connect and hold each arm where it is; return the description.

        For a calibration torque stays as it is.

        Returns:
            The description.

        Raises:
            DeviceError: If an arm is unreachable, faulty or not calibrated.
        """
        self.close("hold")
        problems: list[str] = []
        try:
            for limb, port in self._list_ports().items():
                arm, ids = self._make_arm(limb, port)
                self._arms.append((arm, ids))
                try:
                    if self._is_calibrating:
                        arm.connect()
                    else:
                        arm.open(self.robot, self._find_calibration(limb))
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
            yield from arm.diagnose(self.robot, self._find_calibration(limb))

    def calibrate(self, joints: Sequence[str]) -> Dialogue:
        """Guide a calibration of the opened arms, which lose their torque."""
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

    def read(self) -> FollowerState:
        """Return the newest state of all arms, with the oldest stamp."""
        check_open("feetech", self._arms)
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
        check_open("feetech", self._arms)
        check_target("feetech", q_cmd, len(self.robot.joint_names))
        for arm, ids in self._arms:
            arm.write(q_cmd[ids])

    def close(self, policy: ClosePolicy = "hold") -> None:
        """Leave the arms holding; ``off`` cuts their power: they fall."""
        if policy == "off" and self._arms:
            _LOG.warning("env 'feetech': the arms lose their power now, and fall")
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
            self.robot, "env.ports", config.port, config.ports, "/dev/ttyACM0"
        )

    def _find_calibration(self, limb: str) -> str:
        return self.config.calibrations.get(limb, self.config.calibration)

    def _make_arm(self, name: str, port: str) -> tuple[FeetechArm, list[int]]:
        limb = next(limb for limb in self.robot.limbs if limb.name == name)
        arm = FeetechArm(self.config, limb, port, self.clock)
        return arm, [self.robot.joint_names.index(joint) for joint in arm.names]
