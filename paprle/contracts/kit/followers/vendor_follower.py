"""Followers with one vendor's arm per limb."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from paprle.contracts.errors import DeviceError, MissingDependency
from paprle.contracts.kit.followers.limb_devices import (
    DeviceState,
    assign_addresses,
    check_open,
    check_target,
    join_states,
)
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


class VendorArm(Protocol):
    """An arm and its controller, see ``paprle.hardware.vendor_arm.arm``."""

    @property
    def is_muted(self) -> bool:
        """Whether goals are dropped until one is at the arm's place."""

    def read(self) -> tuple[Any, str]:
        """Return the newest reading, and the reason not to move it."""

    def write(self, q: Vec) -> None:
        """Send one goal, (n,), [rad]; never wait."""

    def find_held(self, reading: Any) -> Vec:
        """Return the position held without goals, (n,), [rad]."""

    def close(self, *, is_powerless: bool) -> None:
        """Leave the arm holding, or without power."""


Arm = TypeVar("Arm", bound=VendorArm)


class VendorFollower(Follower, Generic[Arm]):
    """Arms on the network; ``read`` and ``write`` never wait.

    ``extra`` is the package's extra with the maker's SDK, ``make_gripper`` drives
    grippers beside the arms.
    """

    env: ClassVar[str]
    example: ClassVar[str]
    extra: str
    passes_grippers: ClassVar[bool]
    make_gripper: ClassVar[MakeGripper]

    def __init__(self, config: Any, robot: RobotInfo, clock: Clock) -> None:
        super().__init__(config, robot, clock)
        self._arms: list[tuple[LimbInfo, Arm, list[int]]] = []
        self._grippers = SideGrippers(
            self.env, robot, config.robotiq, type(self).make_gripper
        )

    @abstractmethod
    def _check_limbs(self) -> None:
        """Raise DeviceError for another robot."""

    @abstractmethod
    def _make_arm(self, limb: LimbInfo, host: str) -> Arm:
        """Return the closed arm of a limb."""

    @abstractmethod
    def _open_arm(self, arm: Arm, limb: LimbInfo) -> list[str]:
        """Connect without motion; return problems."""

    @abstractmethod
    def _diagnose_arm(self, arm: Arm, limb: LimbInfo) -> Iterator[tuple[bool, str]]:
        """Examine a closed arm without power or motion."""

    @abstractmethod
    def _describe(self) -> FollowerInfo:
        """Describe the opened arms."""

    def preflight(self) -> tuple[str, ...]:
        """Report missing addresses and other arms."""
        try:
            self._list_hosts()
            self._check_limbs()
        except DeviceError as err:
            return (str(err),)
        return ()

    def open(self) -> FollowerInfo:
        """Return the description of powered arms; nothing moves.

        Raises:
            DeviceError: If an arm is unreachable, stopped, in use, or another one.
            MissingDependency: If the SDK is missing.
        """
        self.close("hold")
        problems: list[str] = []
        try:
            self._check_limbs()
            for limb, host in self._list_limbs():
                problems += self._connect(limb, host) or self._grippers.open(
                    limb, self._find_line(host)
                )
            if problems:
                raise DeviceError("\n".join(problems))
        except BaseException:
            self.close("hold")
            raise
        return self._describe()

    def diagnose(self) -> Iterator[tuple[bool, str]]:
        """Examine the controllers without power or motion."""
        try:
            self._check_limbs()
            limbs = self._list_limbs()
        except DeviceError as err:
            yield False, str(err)
            return
        for limb, host in limbs:
            yield from self._diagnose_arm(self._make_arm(limb, host), limb)
            yield from self._grippers.diagnose(limb, self._find_line(host))

    def read(self) -> FollowerState:
        """Return the newest state, with the oldest stamp."""
        check_open(self.env, self._arms)
        states = [self._grippers.add(self._read_arm(*one)) for one in self._arms]
        return join_states(len(self.robot.joint_names), states)

    def write(self, q_cmd: Vec) -> None:
        """Send a target without waiting; raise CommandError if invalid."""
        check_open(self.env, self._arms)
        check_target(self.env, q_cmd, len(self.robot.joint_names))
        for limb, arm, ids in self._arms:
            arm.write(q_cmd[ids])
            if not arm.is_muted:
                self._grippers.write(limb.name, q_cmd)

    def close(self, policy: ClosePolicy = "hold") -> None:
        """Leave the arms holding; without power (``off``) brakes hold."""
        for limb, arm, _ in self._arms:
            try:
                arm.close(is_powerless=policy == "off")
            except OSError:  # one arm must not keep the others open
                _LOG.exception("env '%s': %s could not be left", self.env, limb.name)
        self._arms = []
        self._grippers.close()

    def _read_arm(self, limb: LimbInfo, arm: Arm, ids: list[int]) -> DeviceState:
        reading, reason = arm.read()
        self._note(limb, reading)
        return DeviceState(
            limb=limb.name,
            ids=ids,
            stamp_ns=reading.stamp_ns,
            q=reading.q,
            dq=reading.dq,
            tau=reading.tau,
            q_held=arm.find_held(reading),
            stop_reason=reason,
        )

    def _note(self, limb: LimbInfo, reading: Any) -> None:
        """Take more from a reading than its joints."""

    def _connect(self, limb: LimbInfo, host: str) -> list[str]:
        ids = [self.robot.joint_names.index(joint) for joint in limb.joint_names]
        arm = self._make_arm(limb, host)
        self._arms.append((limb, arm, ids))
        try:
            found = self._open_arm(arm, limb)
        except ImportError as err:
            raise MissingDependency(
                f"env '{self.env}': expected {err.name}, got none; "
                f"pip install 'paprle[{self.extra}]'"
            ) from err
        except OSError as err:
            return [f"env '{self.env}': {err}"]
        return [f"env '{self.env}': {host}: {text}" for text in found]

    def _find_line(self, host: str) -> str:
        return host if self.passes_grippers else ""

    def _list_limbs(self) -> list[tuple[LimbInfo, str]]:
        hosts = self._list_hosts()
        return [(limb, hosts[limb.name]) for limb in self.robot.limbs]

    def _list_hosts(self) -> Mapping[str, str]:
        config = self.config
        return assign_addresses(
            self.robot, "env.hosts", config.host, config.hosts, self.example
        )
