"""Newest commands and Joy; age counts from arrival."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pinocchio as pin

from paprle.contracts.kit.latest import Latest
from paprle.contracts.plugins import Clock
from paprle.contracts.types import LimbCommand
from paprle.hardware.ros.bus import SENSORS, Bus
from paprle.hardware.ros.joints import Joy, decode_joints, decode_joy, decode_pose
from paprle.hardware.ros.messages import JOINT_STATE, JOY, POSE_STAMPED, MessageError
from paprle.leaders.ros.captures import Captures
from paprle.leaders.ros.config import RosLeaderConfig
from paprle.leaders.ros.frames import HeardFrames
from paprle.leaders.ros.parts import LimbParts

_NORM = (0.9, 1.1)  # spec: docs/SAFETY.md, A6: quaternions of another norm are refused


class RosDevice:
    """Decodes a device's messages and keeps the newest."""

    def __init__(self, config: RosLeaderConfig, clock: Clock) -> None:
        self._config, self._clock = config, clock
        self._slots: dict[str, Latest[LimbCommand]] = {
            name: Latest() for name in config.limbs
        }
        self._joy: Latest[Joy] = Latest()
        self.frames = HeardFrames(config)
        self._parts = {
            name: LimbParts(name, limb, config.max_age)
            for name, limb in config.limbs.items()
            if limb.joints
        }
        self._times = {
            name: self._parts[name].times
            if name in self._parts
            else Captures(1, config.max_age)
            for name in config.limbs
        }
        self._refused: dict[str, str] = {}
        self._untold: list[str] = []
        self.n_refused = 0

    def subscribe(self, bus: Bus) -> None:
        """Subscribe to the limbs' topics and the Joy.

        Raises:
            BusError: If the middleware refuses a topic.
        """
        self.frames.subscribe(bus)
        for name, limb in self._config.limbs.items():
            kind = JOINT_STATE if limb.joints else POSE_STAMPED
            accept = self._accept_joints if limb.joints else self._accept_pose
            bus.subscribe(
                limb.topic, kind, self._make_callback(bus, accept, name), SENSORS
            )
        joy = self._config.joy
        if joy is not None:
            callback = self._make_callback(bus, self._accept_joy, "")
            bus.subscribe(joy.topic, JOY, callback, SENSORS)

    @property
    def arrived_ns(self) -> tuple[int, ...]:
        """Arrival of each limb's newest command, [ns], or 0."""
        return tuple(slot.stamp_ns or 0 for slot in self._slots.values())

    @property
    def captured_ns(self) -> int:
        """Capture of the oldest limb, [ns], or 0."""
        return min(times.captured_ns for times in self._times.values())

    def find_silent(self) -> list[str]:
        """Return the limbs without messages."""
        return [name for name, slot in self._slots.items() if slot.value is None]

    def describe_silence(self, name: str) -> str:
        """Return a limb's missing topic or refusal."""
        if name in self._refused:
            return self._refused[name]
        if name in self._parts:
            return self._parts[name].find_missing()
        return (
            self.frames.find_refusal(name)
            or f"a pose on {self._config.limbs[name].topic}"
        )

    def find_refused(self) -> dict[str, str]:
        """Return the reasons by refused limb."""
        return dict(self._refused)

    def take_warnings(self) -> list[str]:
        """Return new refusals."""
        found, self._untold = self._untold, []
        return found + self.frames.take_warnings()

    def make_commands(self) -> dict[str, LimbCommand]:
        """Return each limb's newest command."""
        opening = self._read_axis()
        commands = {n: slot.value or LimbCommand() for n, slot in self._slots.items()}
        return {
            name: command
            if command.opening is not None or opening is None
            else replace(command, opening=opening)
            for name, command in commands.items()
        }

    def is_pressed(self, button: int | None, *, otherwise: bool) -> bool:
        """Return whether a fresh Joy holds a button, or ``otherwise``."""
        if button is None:
            return otherwise
        return self.is_joy_fresh() and self.is_down(button)

    def is_joy_fresh(self) -> bool:
        """Return whether a Joy came within ``max_age``."""
        return self._joy.compute_age(self._clock()) <= self._config.max_age

    def is_down(self, button: int) -> bool:
        """Return whether the newest Joy holds a button."""
        joy = self._joy.value
        buttons = () if joy is None else joy.buttons
        return button < len(buttons) and bool(buttons[button])

    def _make_callback(
        self, bus: Bus, accept: Callable[[Bus, str, bytes], None], name: str
    ) -> Callable[[bytes], None]:
        def callback(data: bytes) -> None:
            try:
                accept(bus, name, data)
            except MessageError:
                self.n_refused += 1

        return callback

    def _accept_joints(self, bus: Bus, name: str, data: bytes) -> None:
        parts = self._parts[name]
        try:
            joints = decode_joints(bus.codec, data)
            command = parts.take(joints, self._clock(), bus.source_ns)
        except MessageError:
            if parts.refusal and name not in self._refused:
                self._refused[name] = parts.refusal
                self._untold.append(parts.refusal)
            raise
        if command is not None:
            self._slots[name].write(command, parts.times.arrived_ns)

    def _accept_pose(self, bus: Bus, name: str, data: bytes) -> None:
        pose = decode_pose(bus.codec, data)
        norm = float(np.linalg.norm(pose.quat_xyzw))
        if not (_NORM[0] <= norm <= _NORM[1]) or not np.isfinite(pose.p).all():
            raise MessageError("expected a finite pose and a unit quaternion")
        T = pin.XYZQUATToSE3(np.concatenate([pose.p, pose.quat_xyzw / norm]))
        T = self.frames.convert(name, pose.frame_id, T)
        now_ns = self._clock()
        self._times[name].note([0], pose.stamp_ns, bus.source_ns, now_ns)
        self._slots[name].write(LimbCommand(T_leader_base_leader_eef=T), now_ns)

    def _accept_joy(self, bus: Bus, _: str, data: bytes) -> None:
        self._joy.write(decode_joy(bus.codec, data), self._clock())

    def _read_axis(self) -> float | None:
        joy, newest = self._config.joy, self._joy.value
        if joy is None or joy.gripper_axis is None or newest is None:
            return None
        axes = newest.axes
        if joy.gripper_axis >= len(axes) or not np.isfinite(axes[joy.gripper_axis]):
            return None
        return float(np.clip((axes[joy.gripper_axis] + 1.0) / 2.0, 0.0, 1.0))
