"""Grippers beside a follower's arms, each on its own line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Protocol

import numpy as np

from paprle.contracts.errors import DeviceError, MissingDependency
from paprle.contracts.kit.followers.limb_devices import DeviceState, assign_addresses
from paprle.contracts.settings.robotiq import RobotiqSettings
from paprle.contracts.types import LimbInfo, RobotInfo, Vec

_NONE = "none"
_INSTALL = "pip install 'paprle[robotiq]'"


class SideGripper(Protocol):
    """A driver's gripper, by its joint, [rad] or [m], [N·m] or [N]."""

    q: float
    dq: float
    tau: float
    failure: str

    def examine(self) -> tuple[bool, str]:
        """Return success and a sentence, without motion."""

    def open(self) -> None:
        """Reach it; raise OSError if it is not ready."""

    def write(self, q: float) -> None:
        """Give it a position; never waits."""

    def close(self) -> None:
        """Leave it holding; may be called twice."""


MakeGripper = Callable[[str, bool, float, float], SideGripper]
"""From an address, whether it is a serial port, and the closed and open position."""


class SideGrippers:
    """The grippers of a robot's limbs, if the settings name a model."""

    def __init__(
        self, env: str, robot: RobotInfo, settings: RobotiqSettings, make: MakeGripper
    ) -> None:
        self._env, self._robot, self._settings = env, robot, settings
        self._make = make
        self._open: dict[str, tuple[SideGripper, int]] = {}

    @property
    def is_used(self) -> bool:
        """Whether the settings name a model."""
        return self._settings.model != _NONE

    def check(self, *, has_other_line: bool) -> None:
        """Check the settings.

        Raises:
            DeviceError: If the robot has no gripper, or one has no line.
        """
        if not self.is_used:
            return
        if not any(limb.gripper for limb in self._robot.limbs):
            raise DeviceError(
                f"env.robotiq.model: expected none, as '{self._robot.name}' has no "
                f"gripper, got '{self._settings.model}'"
            )
        if not self._list_ports() and not has_other_line:
            raise DeviceError(
                f"env.robotiq.port: expected the serial port of the gripper of env "
                f"'{self._env}', got none; write env.robotiq.port=/dev/ttyUSB0"
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
        for gripper, _ in self._open.values():
            gripper.close()
        self._open = {}

    def _make_one(self, limb: LimbInfo, host: str) -> SideGripper | None:
        if limb.gripper is None or not self.is_used:
            return None
        port = self._list_ports().get(limb.name, "")
        hand = limb.gripper
        try:
            return self._make(port or host, bool(port), hand.closed, hand.open)
        except ImportError as err:
            raise MissingDependency(
                f"env '{self._env}': expected {err.name}, got none; {_INSTALL}"
            ) from err

    def _list_ports(self) -> dict[str, str]:
        settings = self._settings
        if not settings.port and not settings.ports:
            return {}
        return assign_addresses(
            self._robot,
            "env.robotiq.ports",
            settings.port,
            settings.ports,
            "/dev/ttyUSB0",
        )
