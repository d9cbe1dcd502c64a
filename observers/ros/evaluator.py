"""Topics of ARBot's evaluator."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from paprle.contracts.plugins import SessionView
from paprle.contracts.types import LimbInfo, RobotInfo, Vec
from paprle.hardware.ros.bus import Bus, Publisher, UnknownTypeError
from paprle.hardware.ros.joints import Pose, encode_pose
from paprle.hardware.ros.messages import POSE_STAMPED
from paprle.hardware.ros.telemetry import (
    FLOAT,
    TARGET_METRIC,
    TRACKING_METRICS,
    encode_float,
    encode_metrics,
    encode_target_metric,
)
from paprle.observers.ros.config import RosObserverConfig
from paprle.observers.ros.frames import Frames
from paprle.observers.ros.metrics import Tracking

_LOG = logging.getLogger(__name__)
_METRICS_NS = 100_000_000  # [ns] chosen: ten times a second is plenty for a person
_TYPES = {
    "target_pose": POSE_STAMPED,
    "actual_pose": POSE_STAMPED,
    "ik_delay_ms": FLOAT,
    "target_metric": TARGET_METRIC,
    "metrics": TRACKING_METRICS,
}


@dataclass
class _Limb:
    info: LimbInfo
    frame_id: str
    topics: dict[str, Publisher]
    tracking: Tracking = field(default_factory=Tracking)


class Evaluator:
    """Sends targets, actual poses and errors, once each."""

    def __init__(
        self,
        bus: Bus,
        config: RosObserverConfig,
        robot: RobotInfo,
        frames: Frames,
        date: Callable[[int], int],
    ) -> None:
        self._codec, self._frames, self._date = bus.codec, frames, date
        self._limbs = [
            _Limb(
                info,
                config.frame_prefix + info.base_link,
                _advertise(bus, f"{config.namespace}/{info.name}"),
            )
            for info in robot.limbs
        ]
        self._episode = -1
        self._told_ns = self._captured_ns = 0

    def send(self, report: SessionView) -> None:
        """Send actual poses and, engaged, the rest."""
        if report.episode != self._episode:
            self._episode = report.episode
            for limb in self._limbs:
                limb.tracking.clear()
        targets = self._find_targets(report)
        self._frames.update(report.q)
        captured_ns = report.captured_ns or report.stamp_ns
        is_new = report.is_engaged and captured_ns > self._captured_ns
        is_due = report.stamp_ns - self._told_ns >= _METRICS_NS
        for limb in self._limbs:
            actual = self._find_eef(limb.info)
            stamp_ns = self._date(report.measured_ns)
            self._send_pose(limb, "actual_pose", actual, stamp_ns)
            if is_new:
                self._send_target(limb, targets[limb.info.name], actual, report)
                if is_due and limb.tracking.n and "metrics" in limb.topics:
                    self._send_metrics(limb, report)
        if is_new:
            self._captured_ns = captured_ns
            self._told_ns = report.stamp_ns if is_due else self._told_ns

    def _find_targets(self, report: SessionView) -> dict[str, Vec]:
        self._frames.update(report.q_des)
        return {
            name: row
            if np.isfinite(row).all()
            else self._find_eef(
                next(x.info for x in self._limbs if x.info.name == name)
            )
            for name, row in report.targets.items()
        }

    def _find_eef(self, limb: LimbInfo) -> Vec:
        return self._frames.find(limb.base_link, limb.eef_link)

    def _send_target(
        self, limb: _Limb, target: Vec, actual: Vec, report: SessionView
    ) -> None:
        codec, captured_ns = self._codec, report.captured_ns or report.stamp_ns
        pose = Pose(target[:3], target[3:], limb.frame_id, self._date(captured_ns))
        limb.topics["target_pose"].publish(encode_pose(codec, pose))
        delay = 1e-9 * report.computed_ns
        latency = 1e-9 * (report.posted_ns - captured_ns)
        if "target_metric" in limb.topics:
            metric = encode_target_metric(codec, pose, delay, latency)
            limb.topics["target_metric"].publish(metric)
        limb.topics["ik_delay_ms"].publish(encode_float(codec, 1e3 * delay))
        limb.tracking.add(
            (1e-9 * captured_ns, target), (1e-9 * report.measured_ns, actual)
        )

    def _send_metrics(self, limb: _Limb, report: SessionView) -> None:
        figures, stamp_ns = limb.tracking.compute(), self._date(report.stamp_ns)
        data = encode_metrics(self._codec, figures, limb.frame_id, stamp_ns)
        limb.topics["metrics"].publish(data)

    def _send_pose(self, limb: _Limb, topic: str, row: Vec, stamp_ns: int) -> None:
        pose = Pose(row[:3], row[3:], limb.frame_id, stamp_ns)
        limb.topics[topic].publish(encode_pose(self._codec, pose))


def _advertise(bus: Bus, where: str) -> dict[str, Publisher]:
    topics = {}
    for name, kind in _TYPES.items():
        try:
            topics[name] = bus.advertise(f"{where}/{name}", kind)
        except UnknownTypeError as err:
            if kind not in {TARGET_METRIC, TRACKING_METRICS}:
                raise
            _LOG.warning(
                "%s/%s is left out: %s (hardware/ros/paprle_msgs)", where, name, err
            )
    return topics
