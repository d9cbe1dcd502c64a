"""Followers with one arm of bus servos per limb."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar, Generic, TypeVar

from paprle.contracts.errors import DeviceError
from paprle.contracts.kit.followers.limb_devices import (
    DeviceState,
    assign_addresses,
    check_open,
    check_target,
    join_states,
)
from paprle.contracts.kit.followers.servo_arm import ServoArm
from paprle.contracts.kit.followers.side_grippers import MakeGripper, SideGrippers
from paprle.contracts.plugins import Clock, Follower
from paprle.contracts.types import (
    ClosePolicy,
    FollowerInfo,
    FollowerState,
    LimbInfo,
    RobotInfo,
    Vec,
)

_LOG = logging.getLogger(__name__)


Arm = TypeVar("Arm", bound=ServoArm[Any, Any])


class ServoFollower(Follower, Generic[Arm]):
    """Arms on serial buses; ``read`` and ``write`` never wait.

    ``make_gripper`` drives grippers beside the arms.
    """

    env: ClassVar[str]
    example: ClassVar[str]
    make_gripper: ClassVar[MakeGripper]

    def __init__(self, config: Any, robot: RobotInfo, clock: Clock) -> None:
        super().__init__(config, robot, clock)
        self._arms: list[tuple[Arm, list[int]]] = []
        self._problems: tuple[str, ...] = ()
        self._grippers = SideGrippers(
            self.env, robot, config.robotiq, type(self).make_gripper
        )

    @abstractmethod
    def _name_servos(self) -> Mapping[str, Collection[str]]:
        """Return the joints that settings of servos name, by key."""

    @abstractmethod
    def _find_obstacle(self, port: str) -> str:
        """Return a port's fault, or ""."""

    @abstractmethod
    def _make_arm(self, limb: LimbInfo, port: str) -> Arm:
        """Return the closed arm of a limb."""

    @abstractmethod
    def _open_arm(self, arm: Arm) -> None:
        """Connect and hold the arm, or raise DeviceError."""

    @abstractmethod
    def _diagnose_arm(self, arm: Arm) -> Iterator[tuple[bool, str]]:
        """Examine a closed arm without torque or motion."""

    def preflight(self) -> tuple[str, ...]:
        """Report missing or forbidden ports."""
        try:
            ports = self._list_ports()
        except DeviceError as err:
            return (str(err),)
        found = (self._find_obstacle(port) for port in ports.values())
        return tuple(f"env '{self.env}': {text}" for text in found if text)

    def open(self) -> FollowerInfo:
        """Return the description of arms that now hold their places.

        Raises:
            DeviceError: If an arm is unreachable, faulty or set up otherwise.
            MissingDependency: If the SDK is missing.
        """
        self.close("hold")
        problems: list[str] = []
        try:
            ports = self._list_ports()
            self._open_grippers()
            for limb, port in ports.items():
                arm, ids = self._find_arm(limb, port)
                self._arms.append((arm, ids))
                try:
                    self._open_arm(arm)
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
            arm, _ = self._find_arm(limb, port)
            yield from self._diagnose_arm(arm)
        yield from self._grippers.diagnose_all()

    def read(self) -> FollowerState:
        """Return the newest state, with the oldest stamp."""
        check_open(self.env, self._arms)
        states = []
        for arm, ids in self._arms:
            stamp_ns, q, dq, tau = arm.read()
            state = DeviceState(
                limb=arm.name,
                ids=ids,
                stamp_ns=stamp_ns,
                q=q,
                dq=dq,
                tau=tau,
                q_held=arm.find_held(),
                stop_reason=arm.stop_reason,
            )
            states.append(self._grippers.add(state))
        return join_states(len(self.robot.joint_names), states)

    def write(self, q_cmd: Vec) -> None:
        """Send a target without waiting; raise CommandError if invalid."""
        check_open(self.env, self._arms)
        check_target(self.env, q_cmd, len(self.robot.joint_names))
        for arm, ids in self._arms:
            arm.write(q_cmd[ids])
            if not arm.is_muted:
                self._grippers.write(arm.name, q_cmd)

    def close(self, policy: ClosePolicy = "hold") -> None:
        """Leave the arms holding; without power (``off``) they fall."""
        if policy == "off" and self._arms:
            _LOG.warning("env '%s': the arms lose their power now, and fall", self.env)
        for arm, _ in self._arms:
            arm.close(is_powerless=policy == "off")
        self._problems = tuple(p for arm, _ in self._arms for p in arm.bus.problems)
        self._arms = []
        self._grippers.close()

    def take_warnings(self) -> list[str]:
        """Return new warnings of the buses."""
        return [text for arm, _ in self._arms for text in arm.bus.take_warnings()]

    @property
    def closing_notes(self) -> tuple[str, ...]:
        """Servos whose torque may still be on unduly."""
        return self._problems

    def _list_ports(self) -> Mapping[str, str]:
        config = self.config
        ports = assign_addresses(
            self.robot, "env.ports", config.port, config.ports, self.example
        )
        self._grippers.check(taken=ports.values())
        self._grippers.check_unnamed(self._name_servos())
        return ports

    def _open_grippers(self) -> None:
        problems = self._grippers.open_all()
        if problems:  # before an arm has torque, which it would lose again
            raise DeviceError("\n".join(problems))

    def _find_arm(self, name: str, port: str) -> tuple[Arm, list[int]]:
        limb = next(limb for limb in self._grippers.limbs if limb.name == name)
        arm = self._make_arm(limb, port)
        return arm, [self.robot.joint_names.index(joint) for joint in arm.names]
