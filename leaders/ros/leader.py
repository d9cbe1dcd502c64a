"""The leader: the newest message of each topic becomes one sample.

Ages are those of arrival: a sender's stamp is another machine's, and extends nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from hardware.ros.bus import SENSORS, Bus, BusError
from hardware.ros.joints import Joy, decode_joints, decode_joy, decode_pose
from hardware.ros.messages import JOINT_STATE, JOY, POSE_STAMPED, MessageError
from hardware.ros.transports import open_bus
from leaders.ros.config import LimbConfig, RosLeaderConfig
from paprle.contracts.errors import DeviceError
from paprle.contracts.plugins import Clock, Leader
from paprle.contracts.types import LeaderInfo, LeaderSample, LimbCommand

_TELL_NS = 10_000_000_000  # [ns] chosen: a clutch is pressed many times
_NORM = (0.9, 1.1)  # spec: docs/SAFETY.md, A6: quaternions of another norm are refused


@dataclass
class _Slot:
    """The newest command of a limb and when it came, [ns]; 0: never."""

    command: LimbCommand
    stamp_ns: int = 0


class RosLeader(Leader):
    """Listens to a device's topics."""

    config: RosLeaderConfig

    def __init__(self, config: RosLeaderConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._bus: Bus | None = None
        self._said: tuple[object, ...] = ()
        self._seq = self.n_refused = 0
        self._told_ns = -_TELL_NS
        self._begin()

    @property
    def info(self) -> LeaderInfo:
        """What its config says."""
        config = self.config
        names = {limb: c.joints for limb, c in config.limbs.items() if c.joints}
        has_axis = config.joy is not None and config.joy.gripper_axis is not None
        return LeaderInfo(
            limbs=tuple(config.limbs),
            emits="joints" if names else "pose",
            joint_names=names,
            is_absolute=config.is_absolute and not names,
            is_human=config.is_human,
            is_measured=not names and config.is_human,
            has_gripper=has_axis or any(c.gripper for c in config.limbs.values()),
            rate=config.rate,
        )

    def open(self) -> None:
        """Join the graph and wait for every topic.

        Raises:
            DeviceError: If a topic is silent, or there is no limb to listen for.
        """
        config = self.config
        if not config.limbs:
            raise DeviceError(
                "leader.limbs: expected topics by limb, got none; see docs/ros2.md"
            )
        self._begin()
        try:
            self._bus = open_bus(config, "paprle_leader")
            self._subscribe(self._bus)
            self._bus.wait_until(lambda: not self._find_silent(), config.timeout)
        except (BusError, MessageError) as err:
            self.close()
            raise DeviceError(f"leader 'ros': {err}") from err
        self._check_heard(self._bus)

    def latest(self) -> LeaderSample | None:
        """Return the newest commands; not valid while any topic is silent.

        Raises:
            DeviceError: If the middleware failed.
        """
        if self._bus is None:
            return None
        try:
            self._bus.poll()
        except BusError as err:
            raise DeviceError(f"leader 'ros': {err}") from err
        if self._find_silent():
            return None
        stamps = tuple(slot.stamp_ns for slot in self._slots.values())
        limbs = {name: self._make_command(name) for name in self._slots}
        engaged = self._is_pressed("deadman", otherwise=True)
        start = self._is_pressed("start", otherwise=False)
        end = self._is_pressed("end", otherwise=False)
        valid = self.clock() - min(stamps) <= self.config.max_age * 1e9
        openings = tuple(command.opening for command in limbs.values())
        said = (stamps, openings, engaged, start, end, valid)
        if said != self._said:  # asked again, a device that is silent grows old (A1)
            self._said = said
            self._seq += 1
        return LeaderSample(
            stamp_ns=min(stamps),
            seq=self._seq,
            limbs=limbs,
            engaged=engaged,
            valid=valid,
            start=start,
            end=end,
        )

    def take_warnings(self) -> list[str]:
        """Return, now and then, that a dead-man is let go for want of messages."""
        now, joy, config = self.clock(), self.config.joy, self.config
        if joy is None or joy.deadman is None or self._is_joy_fresh():
            return []
        if not self._is_down(joy.deadman) or now - self._told_ns < _TELL_NS:
            return []
        self._told_ns = now
        return [
            f"{joy.topic}: no Joy for {config.max_age:g} [s] while the dead-man was "
            "held, so it counts as let go; a joy_node speaks while nothing changes "
            "only with autorepeat_rate, 50 [Hz] or more"
        ]

    def close(self) -> None:
        """Leave the graph; may be called twice."""
        if self._bus is not None:
            self._bus.close()
            self._bus = None

    def _begin(self) -> None:
        self._slots = {name: _Slot(LimbCommand()) for name in self.config.limbs}
        self._joy: Joy | None = None
        self._joy_ns = 0
        self._said = ()
        self._seq = self.n_refused = 0
        self._told_ns = -_TELL_NS

    def _subscribe(self, bus: Bus) -> None:
        for name, limb in self.config.limbs.items():
            kind = JOINT_STATE if limb.joints else POSE_STAMPED
            take = self._take_joints if limb.joints else self._take_pose
            bus.subscribe(limb.topic, kind, self._make_intake(take, name), SENSORS)
        if self.config.joy is not None:
            take_joy = self._make_intake(self._take_joy, "")
            bus.subscribe(self.config.joy.topic, JOY, take_joy, SENSORS)

    def _make_intake(
        self, take: Callable[[Bus, str, bytes], None], name: str
    ) -> Callable[[bytes], None]:
        """Return a callback that counts what it cannot use and keeps what it had."""

        def intake(data: bytes) -> None:
            if self._bus is None:
                return
            try:
                take(self._bus, name, data)
            except MessageError:
                self.n_refused += 1

        return intake

    def _take_joints(self, bus: Bus, name: str, data: bytes) -> None:
        limb: LimbConfig = self.config.limbs[name]
        joints = decode_joints(bus.codec, data)
        by_name = dict(zip(joints.names, joints.q, strict=True))
        wanted = (*limb.joints, *([limb.gripper.joint] if limb.gripper else []))
        if not set(wanted) <= by_name.keys():
            return  # another device's joints on the same topic
        q = np.array([by_name[joint] for joint in wanted])
        if not np.isfinite(q).all():
            raise MessageError(f"{limb.topic}: expected finite positions, got {q}")
        opening = None
        if limb.gripper is not None:
            span = limb.gripper.open - limb.gripper.closed
            opening = float(np.clip((q[-1] - limb.gripper.closed) / span, 0.0, 1.0))
        self._put(name, LimbCommand(q=q[: len(limb.joints)], opening=opening))

    def _take_pose(self, bus: Bus, name: str, data: bytes) -> None:
        pose = decode_pose(bus.codec, data)
        norm = float(np.linalg.norm(pose.quat_xyzw))
        if not (_NORM[0] <= norm <= _NORM[1]) or not np.isfinite(pose.p).all():
            raise MessageError("expected a finite pose and a unit quaternion")
        T = pin.XYZQUATToSE3(np.concatenate([pose.p, pose.quat_xyzw / norm]))
        self._put(name, LimbCommand(T_leader_base_leader_eef=T))

    def _take_joy(self, bus: Bus, _: str, data: bytes) -> None:
        self._joy, self._joy_ns = decode_joy(bus.codec, data), self.clock()

    def _put(self, name: str, command: LimbCommand) -> None:
        self._slots[name] = _Slot(command, self.clock())

    def _make_command(self, name: str) -> LimbCommand:
        command = self._slots[name].command
        joy = self.config.joy
        if command.opening is not None or joy is None or joy.gripper_axis is None:
            return command
        axes = np.zeros(0) if self._joy is None else self._joy.axes
        if joy.gripper_axis >= len(axes) or not np.isfinite(axes[joy.gripper_axis]):
            return command
        opening = float(np.clip((axes[joy.gripper_axis] + 1.0) / 2.0, 0.0, 1.0))
        return LimbCommand(
            T_leader_base_leader_eef=command.T_leader_base_leader_eef,
            q=command.q,
            opening=opening,
        )

    def _is_pressed(self, what: str, *, otherwise: bool) -> bool:
        """Tell whether a button is down; a silent Joy holds nothing down."""
        joy = self.config.joy
        button = None if joy is None else getattr(joy, what)
        if button is None:
            return otherwise
        return self._is_joy_fresh() and self._is_down(button)

    def _is_joy_fresh(self) -> bool:
        return self.clock() - self._joy_ns <= self.config.max_age * 1e9

    def _is_down(self, button: int) -> bool:
        """Tell whether the newest Joy, however old, holds a button down."""
        buttons = () if self._joy is None else self._joy.buttons
        return button < len(buttons) and bool(buttons[button])

    def _find_silent(self) -> list[str]:
        return [name for name, slot in self._slots.items() if not slot.stamp_ns]

    def _check_heard(self, bus: Bus) -> None:
        silent = self._find_silent()
        if not silent:
            return
        expected = []
        for name in silent:
            limb = self.config.limbs[name]
            what = f"joints {', '.join(limb.joints)}" if limb.joints else "a pose"
            expected.append(f"{what} on {limb.topic}")
        found = [f"{topic} [{kind}]" for topic, kind in bus.list_topics().items()]
        self.close()
        raise DeviceError(
            f"leader 'ros': expected {'; '.join(expected)}; found: "
            f"{', '.join(sorted(found)) or 'nobody'}"
        )
