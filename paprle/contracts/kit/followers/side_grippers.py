"""Grippers beside a follower's arms, each on its own line.

A failed gripper is a reason to stop its robot. Its line never delays the arm's: the
driver's own thread waits for it, and grippers are closed after the arms.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from paprle.contracts.errors import DeviceError, MissingDependency
from paprle.contracts.kit.followers.limb_devices import DeviceState, assign_addresses
from paprle.contracts.robot_info import JOINT_VECTORS
from paprle.contracts.settings.robotiq import STROKES, RobotiqSettings
from paprle.contracts.types import GripperInfo, LimbInfo, RobotInfo, Vec, readonly

_LOG = logging.getLogger(__name__)
_NONE = "none"
_INSTALL = "pip install 'paprle[robotiq]'"
_PORT = "/dev/ttyUSB0"
_SAME = 1e-3  # [m] chosen: makers' grippers of nearly that stroke differ by more
_ANGLES = (0.6, 0.9)  # [rad] chosen: linkages are described with 0.7 or 0.8


class SideGripper(Protocol):
    """A driver's gripper, by its joint, [rad] or [m], [N·m] or [N]."""

    q: float
    dq: float
    tau: float

    @property
    def failure(self) -> str:
        """Reason for disobedience, or ""."""

    def examine(self) -> tuple[bool, str]:
        """Return success and a sentence, without motion."""

    def open(self) -> None:
        """Reach it; raise OSError if it is not ready."""

    def write(self, q: float) -> None:
        """Give it a position; never waits."""

    def close(self) -> None:
        """Leave it holding; may be called twice."""


class MakeGripper(Protocol):
    """A driver's function that makes a closed gripper."""

    def __call__(
        self,
        wishes: RobotiqSettings,
        address: str,
        *,
        is_serial: bool,
        closed: float,
        opened: float,
    ) -> SideGripper:
        """Return the gripper at a serial port or a controller, [rad] or [m]."""


class SideGrippers:
    """The grippers of a robot's limbs, if the settings name a model.

    Attributes:
        limbs: As their arms have them: without a gripper that is here.
    """

    def __init__(
        self, env: str, robot: RobotInfo, settings: RobotiqSettings, make: MakeGripper
    ) -> None:
        self._env, self._robot, self._settings = env, robot, settings
        self._make = make
        self._open: dict[str, tuple[SideGripper, int]] = {}
        is_here = self.is_used
        self.limbs = tuple(
            replace(limb, gripper=None if is_here else limb.gripper)
            for limb in robot.limbs
        )

    @property
    def is_used(self) -> bool:
        """Whether the settings name a model."""
        return self._settings.model != _NONE

    @property
    def joints(self) -> tuple[str, ...]:
        """Joints of these grippers."""
        if not self.is_used:
            return ()
        return tuple(one.gripper.joint for one in self._robot.limbs if one.gripper)

    def strip(self) -> RobotInfo:
        """Return the robot without these grippers' joints and their mimics."""
        robot, here = self._robot, self.joints
        keep = np.array([name not in here for name in robot.joint_names])
        rows = {row.name: getattr(robot, row.name) for row in JOINT_VECTORS}
        vectors: dict[str, Any] = {
            name: None if row is None else readonly(row[keep])
            for name, row in rows.items()
        }
        return replace(
            robot,
            joint_names=tuple(one for one in robot.joint_names if one not in here),
            limbs=self.limbs,
            mimics=tuple(one for one in robot.mimics if one.source not in here),
            sliding=tuple(one for one in robot.sliding if one not in here),
            **vectors,
        )

    def check(
        self, *, has_other_line: bool = False, taken: Collection[str] = ()
    ) -> None:
        """Check the settings.

        Args:
            has_other_line: The arm's controller may pass words on.
            taken: Serial ports of the arms.

        Raises:
            DeviceError: If the robot has no gripper or another one, or one has no line
                of its own.
        """
        if not self.is_used:
            return
        if not self.joints:
            raise DeviceError(
                f"env.robotiq.model: expected none, as '{self._robot.name}' has no "
                f"gripper, got '{self._settings.model}'"
            )
        ports = [*self._list_ports().values()]
        if not ports and not has_other_line:
            raise DeviceError(
                f"env.robotiq.port: expected the serial port of the gripper of env "
                f"'{self._env}', got none; write env.robotiq.port={_PORT}"
            )
        twice = [port for port in ports if port in taken or ports.count(port) > 1]
        if twice:
            raise DeviceError(
                f"env.robotiq.port: expected a port of its own, got '{twice[0]}', "
                "which an arm or another gripper has; look at the adapters"
            )
        for limb in self._robot.limbs:
            if limb.gripper is not None:
                self._check_travel(limb.gripper)

    def check_unnamed(self, settings: Mapping[str, Collection[str]]) -> None:
        """Check that no other setting drives a gripper that is here.

        Args:
            settings: Joints that the arm's settings name, by key.

        Raises:
            DeviceError: If one names a gripper's joint.
        """
        for key, names in settings.items():
            twice = [joint for joint in self.joints if joint in names]
            if twice:
                raise DeviceError(
                    f"{key}: expected no gripper, as env.robotiq.model is "
                    f"'{self._settings.model}', got '{twice[0]}'; remove one of both"
                )

    def diagnose(self, limb: LimbInfo, host: str) -> Iterator[tuple[bool, str]]:
        """Yield success and a sentence on a limb's gripper, as in ``open``."""
        try:
            gripper = self._make_one(limb, host)
        except MissingDependency as err:
            yield False, str(err)
            return
        if gripper is not None:
            is_well, text = gripper.examine()
            yield is_well, f"{limb.name}, {text}"

    def open(self, limb: LimbInfo, host: str) -> list[str]:
        """Return problems of opening a limb's gripper, if it has one.

        ``host`` is the controller that passes its words on.

        Raises:
            MissingDependency: If the driver lacks a package.
        """
        gripper = self._make_one(limb, host)
        if gripper is None or limb.gripper is None:
            return []
        joint = self._robot.joint_names.index(limb.gripper.joint)
        self._open[limb.name] = gripper, joint
        try:
            gripper.open()
        except OSError as err:
            return [f"env '{self._env}': {err}"]
        return []

    def open_all(self) -> list[str]:
        """Return problems of opening the grippers on serial ports."""
        return [text for limb in self._robot.limbs for text in self.open(limb, "")]

    def diagnose_all(self) -> Iterator[tuple[bool, str]]:
        """Yield ``diagnose`` of each gripper on a serial port."""
        for limb in self._robot.limbs:
            yield from self.diagnose(limb, "")

    def write(self, limb: str, q_cmd: Vec) -> None:
        """Send a limb's gripper its part of a target, (n,); never wait."""
        if limb in self._open:
            gripper, joint = self._open[limb]
            gripper.write(float(q_cmd[joint]))

    def add(self, state: DeviceState) -> DeviceState:
        """Return an arm's state with its gripper."""
        if state.limb not in self._open:
            return state
        gripper, joint = self._open[state.limb]
        return replace(
            state,
            ids=[*state.ids, joint],
            q=np.append(state.q, gripper.q),
            dq=np.append(state.dq, gripper.dq),
            tau=np.append(state.tau, gripper.tau),
            q_held=np.append(state.q_held, gripper.q),
            stop_reason=state.stop_reason or gripper.failure,
        )

    def close(self) -> None:
        """Leave all of them holding; may be called twice."""
        for limb, (gripper, _) in self._open.items():
            try:
                gripper.close()
            except OSError:  # one gripper must not keep the others open
                _LOG.exception("env '%s': gripper of %s", self._env, limb)
        self._open = {}

    def _make_one(self, limb: LimbInfo, host: str) -> SideGripper | None:
        if limb.gripper is None or not self.is_used:
            return None
        port = self._list_ports().get(limb.name, "")
        hand = limb.gripper
        try:
            return self._make(
                self._settings,
                port or host,
                is_serial=bool(port),
                closed=hand.closed,
                opened=hand.open,
            )
        except ImportError as err:
            raise MissingDependency(
                f"env '{self._env}': expected {err.name}, got none; {_INSTALL}"
            ) from err

    def _check_travel(self, hand: GripperInfo) -> None:
        model, travel = self._settings.model, abs(hand.open - hand.closed)
        stroke = STROKES[model]
        if hand.joint in self._robot.sliding:
            is_it = any(abs(travel - one) <= _SAME for one in (stroke / 2, stroke))
            expected = f"{500 * stroke:g} or {1e3 * stroke:g} [mm]"
            got = f"{1e3 * travel:g} [mm]"
        else:
            least, most = _ANGLES
            is_it = least <= travel <= most
            expected, got = f"{least:g} to {most:g} [rad]", f"{travel:g} [rad]"
        if not is_it:
            raise DeviceError(
                f"env.robotiq.model: expected a joint '{hand.joint}' that travels "
                f"{expected}, as a '{model}' does, got {got}: '{self._robot.name}' has "
                "another gripper; take a follower with this one (docs/robotiq.md), or "
                "env.robotiq.model=none"
            )

    def _list_ports(self) -> dict[str, str]:
        settings = self._settings
        if not settings.port and not settings.ports:
            return {}
        return assign_addresses(
            self._robot,
            "env.robotiq.ports",
            settings.port,
            settings.ports,
            _PORT,
        )
