"""Checks of a trajectory controller.

It refuses a message with a foreign joint, and reports that in its own log alone
(``validate_trajectory_msg``, ros2_controllers).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from paprle.hardware.ros.bus import NEWEST, Bus
from paprle.hardware.ros.joints import ControllerState, decode_controller
from paprle.hardware.ros.messages import CONTROLLER_STATE, MessageError

_COMMANDS = "/joint_trajectory"  # spec: joint_trajectory_controller
_STATE = "/controller_state"
_FROM_DESIRED = ("interpolate_from_desired_state", "open_loop_control")
_PARTIAL = "allow_partial_joints_goal"
_ASKED = (*_FROM_DESIRED, _PARTIAL, "joints")
_FRESH_NS = 200_000_000  # [ns] chosen: 5 of 25 Hz, the slowest state_publish_rate read
_GONE = 1e-7  # [rad] chosen: one that holds asks for the same to the last bit


class ControllerWatch:
    """A ROS 2 trajectory controller; ``name`` is its node, or empty."""

    def __init__(
        self, bus: Bus, topic: str, joints: tuple[str, ...], clock: Callable[[], int]
    ) -> None:
        """Subscribe to its state by ``topic``; joints have ROS's names."""
        is_one = topic.endswith(_COMMANDS) and not bus.codec.is_ros1
        self.name = topic.removesuffix(_COMMANDS) if is_one else ""
        self._bus, self._joints, self._clock = bus, joints, clock
        self._parameters: Mapping[str, Any] = {}
        self._data, self._marked, self._heard_ns = b"", b"", 0
        if self.name:
            bus.subscribe(self.name + _STATE, CONTROLLER_STATE, self._take, NEWEST)

    @property
    def begins_at_desired(self) -> bool | None:
        """Whether messages begin at its desired state; None: unknown."""
        found = [self._parameters.get(name) for name in _FROM_DESIRED]
        return None if all(f is None for f in found) else any(found)

    def ask(self, timeout: float) -> None:
        """Query its parameters within ``timeout``, [s]."""
        if self.name:
            self._parameters = self._bus.read_parameters(self.name, _ASKED, timeout)

    def read(self) -> ControllerState | None:
        """Return its newest state; None if stale."""
        is_old = self._clock() - self._heard_ns > _FRESH_NS
        return None if is_old else self._decode(self._data)

    def find_refusal(self) -> str:
        """Return the reason for total refusal, or ""."""
        state = self.read()
        known = tuple(self._parameters.get("joints") or (state.names if state else ()))
        foreign = [name for name in self._joints if name not in known]
        missing = [name for name in known if name not in self._joints]
        if not known or not (foreign or missing):
            return ""
        if not foreign and self._parameters.get(_PARTIAL) is not False:
            return ""  # a part of its joints, which it may allow
        return (
            f"{self.name} refuses each message: expected its joints "
            f"{', '.join(known)}, got {', '.join(self._joints)}; set env.commands"
        )

    def _find_gap(self) -> str:
        state = self.read()
        missing = [n for n in (state.names if state else ()) if n not in self._joints]
        if not missing or self._parameters.get(_PARTIAL):
            return ""
        return (
            f"{self.name} has {', '.join(missing)}, too, which no message names: it "
            "refuses each unless allow_partial_joints_goal is true\n"
        )

    def find_silence(self) -> str:
        """Return a finding on missing states, or ""."""
        has_topic = bool(self.name and self._bus.count_publishers(self.name + _STATE))
        if not has_topic or self._clock() - self._heard_ns < _FRESH_NS:
            return ""
        node = self.name.strip("/")
        return (
            f"{self.name} says nothing on {self.name}{_STATE}, as one that is not "
            f"active: ros2 control switch_controllers --activate {node}"
        )

    def has(self, name: str) -> bool:
        """Return whether it commands a joint."""
        return name in self._joints

    def mark(self) -> None:
        """Record its state for ``find_answer``."""
        self._marked = self._data

    def find_answer(self, name: str) -> str:
        """Return findings since ``mark`` for a standing joint."""
        if known := self.find_refusal() or self.find_silence():
            return known
        state, before = self.read(), self._decode(self._marked)
        if state is None or before is None or name not in state.names:
            return ""
        if np.abs(state.q - before.q).max() > _GONE:
            return f"{self.name} takes the messages: the arm itself is held"
        return (
            f"{self.name} does not go on: it refuses the messages (its log says why), "
            "or begins each where the arm is held"
        )

    def describe(self) -> str:
        """Return its begin of messages, and YAML lines."""
        begins, silence = self.begins_at_desired, self.find_silence()
        gap = self._find_gap()
        if not self.name or begins or silence:
            return silence or gap.strip()
        node, humble = self.name.strip("/"), self._bus.codec.distro == "humble"
        key = _FROM_DESIRED[humble]
        why = (
            "begins each message where the arm is measured"
            if begins is False
            else "was not asked where it begins a message (parameters need rclpy)"
        )
        return (
            f"{gap}{self.name} {why}: it is told the begin, and takes up no message "
            f"that is early or late; for the smoothest motion add to its YAML:\n"
            f"  {node}:\n    ros__parameters: {{ {key}: true }}"
        )

    def _decode(self, data: bytes) -> ControllerState | None:
        try:
            return decode_controller(self._bus.codec, data) if data else None
        except MessageError:
            return None

    def _take(self, data: bytes) -> None:
        self._data, self._heard_ns = data, self._clock()
