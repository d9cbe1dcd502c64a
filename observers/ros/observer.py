"""The ROS observer."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from paprle.contracts.errors import DeviceError
from paprle.contracts.kit.motion_cues import CueSettings
from paprle.contracts.plugins import Clock, Observer, SessionView
from paprle.contracts.types import RobotInfo
from paprle.hardware.ros.bus import LATCHED, Bus, BusError, Publisher
from paprle.hardware.ros.joints import Joints, encode_joints
from paprle.hardware.ros.messages import JOINT_STATE, MessageError
from paprle.hardware.ros.telemetry import (
    STRING,
    TRANSFORMS,
    encode_text,
    encode_transforms,
)
from paprle.hardware.ros.transports.choice import open_bus
from paprle.observers.ros.config import RosObserverConfig
from paprle.observers.ros.cues import CueSender
from paprle.observers.ros.evaluator import Evaluator
from paprle.observers.ros.frames import Frames

Send = Callable[[SessionView], None]


class RosObserver(Observer):
    """Sends the configured topics."""

    config: RosObserverConfig

    def __init__(
        self,
        config: RosObserverConfig,
        robot: RobotInfo,
        clock: Clock,
        wall: Callable[[], int] = time.time_ns,
    ) -> None:
        super().__init__(config, robot, clock)
        self._wall = wall
        self._bus: Bus | None = None
        self._frames = Frames(robot)
        self._sends: list[Send] = []

    def open(self) -> None:
        """Join the graph."""
        try:
            self._bus = open_bus(self.config, "paprle_publisher")
            self._sends = self._make_sends(self._bus)
        except (BusError, MessageError, OSError) as err:
            self.close()
            raise DeviceError(f"observers.ros: {err}") from err

    def observe(self, view: SessionView) -> None:
        """Send the newest view.

        Raises:
            DeviceError: If the middleware failed.
        """
        if self._bus is None:
            return
        try:
            self._bus.poll()
            for send in self._sends:
                send(view)
        except BusError as err:
            raise DeviceError(f"observers.ros: {err}") from err

    def close(self) -> None:
        """Leave the graph."""
        self._sends = []
        if self._bus is not None:
            self._bus.close()
            self._bus = None

    def _make_sends(self, bus: Bus) -> list[Send]:
        config, sends = self.config, list[Send]()
        if config.description:
            text = self.robot.urdf_path.read_text(encoding="utf-8")
            latched = bus.advertise("/robot_description", STRING, LATCHED)
            latched.publish(encode_text(bus.codec, text))
        if config.tf:
            sends.append(self._make_tf(bus))
        if config.joint_states:
            sends.append(self._make_measured(bus))
        if config.command:
            sends.append(self._make_command(bus))
        if config.cues is not None:
            sends.append(self._make_cues(bus, config.cues))
        if config.evaluator:
            evaluator = Evaluator(bus, config, self.robot, self._frames, self._date)
            sends.append(evaluator.send)
        return sends

    def _make_tf(self, bus: Bus) -> Send:
        moving = bus.advertise("/tf", TRANSFORMS)
        self._frames.update(self.robot.home)
        if self._frames.fixed:
            fixed = bus.advertise("/tf_static", TRANSFORMS, LATCHED)
            fixed.publish(self._encode_tf(bus, self._frames.fixed, self.clock()))

        def send(report: SessionView) -> None:
            self._frames.update(report.q)
            stamp_ns = report.measured_ns
            moving.publish(self._encode_tf(bus, self._frames.moving, stamp_ns))

        return send

    def _encode_tf(
        self, bus: Bus, pairs: list[tuple[str, str]], stamp_ns: int
    ) -> bytes:
        prefix, find = self.config.frame_prefix, self._frames.find
        named = [(prefix + a, prefix + b, find(a, b)) for a, b in pairs]
        return encode_transforms(bus.codec, named, self._date(stamp_ns))

    def _make_measured(self, bus: Bus) -> Send:
        publisher: Publisher = bus.advertise("/joint_states", JOINT_STATE)

        def send(report: SessionView) -> None:
            names, stamp_ns = self.robot.joint_names, self._date(report.measured_ns)
            joints = Joints(names, report.q, report.dq, report.tau, stamp_ns)
            publisher.publish(encode_joints(bus.codec, joints))

        return send

    def _make_command(self, bus: Bus) -> Send:
        publisher = bus.advertise(f"{self.config.namespace}/command", JOINT_STATE)
        no_effort = np.full(len(self.robot.joint_names), np.nan)

        def send(report: SessionView) -> None:
            names, stamp_ns = self.robot.joint_names, self._date(report.written_ns)
            joints = Joints(names, report.q_cmd, report.dq_cmd, no_effort, stamp_ns)
            publisher.publish(encode_joints(bus.codec, joints))

        return send

    def _make_cues(self, bus: Bus, settings: CueSettings) -> Send:
        topic = f"{self.config.namespace}/cues"
        sender = CueSender(bus, topic, self.robot, self._frames, settings)
        frame_id = self.config.frame_prefix + self._frames.root

        def send(report: SessionView) -> None:
            if np.isfinite(report.q).all():
                sender.send(report, frame_id, self._date)

        return send

    def _date(self, stamp_ns: int) -> int:
        """Return wall time, [ns]."""
        return self._wall() - (self.clock() - stamp_ns)
