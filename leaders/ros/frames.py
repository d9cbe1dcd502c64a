"""Frames of poses, joined by static transforms."""

from __future__ import annotations

import pinocchio as pin

from paprle.contracts.kit.static_frames import FrameError, SourceFrame, StaticFrames
from paprle.hardware.ros.bus import Bus, Qos
from paprle.hardware.ros.messages import MessageError
from paprle.hardware.ros.telemetry import TRANSFORMS, decode_transforms
from paprle.leaders.ros.config import RosLeaderConfig

_TOPIC = "/tf_static"
_QOS = Qos(depth=100, latched=True)  # spec: tf2_ros, StaticListenerQoS


class HeardFrames:
    """One frame for the poses of each limb."""

    def __init__(self, config: RosLeaderConfig) -> None:
        self._statics = StaticFrames()
        self._frames = {
            name: SourceFrame(self._statics, config.base_frame, "leader.base_frame")
            for name, limb in config.limbs.items()
            if not limb.joints
        }
        self._refusals: dict[str, str] = {}
        self._untold: list[str] = []

    def subscribe(self, bus: Bus) -> None:
        """Subscribe to static transforms, if there are poses.

        Raises:
            BusError: If the middleware refuses the topic.
        """
        if self._frames:
            bus.subscribe(_TOPIC, TRANSFORMS, lambda data: self._take(bus, data), _QOS)

    def convert(self, limb: str, frame_id: str, T: pin.SE3) -> pin.SE3:
        """Return a pose T in the limb's one frame.

        Raises:
            MessageError: If no transform joins the two frames.
        """
        try:
            moved = self._frames[limb].find(frame_id) * T
        except FrameError as err:
            text = f"limb '{limb}': {err}"
            if self._refusals.get(limb) != text:
                self._refusals[limb] = text
                self._untold.append(text)
            raise MessageError(text) from err
        return moved

    def find_refusal(self, limb: str) -> str:
        """Return a limb's last refusal, or ""."""
        return self._refusals.get(limb, "")

    @property
    def notes(self) -> list[str]:
        """Frame of each limb's poses."""
        return [
            f"limb '{name}': {text}"
            for name, frame in self._frames.items()
            if (text := frame.describe())
        ]

    def take_warnings(self) -> list[str]:
        """Return new refusals."""
        found, self._untold = self._untold, []
        return found

    def _take(self, bus: Bus, data: bytes) -> None:
        try:
            transforms = decode_transforms(bus.codec, data)
        except MessageError:
            return
        for parent, child, row in transforms:
            self._statics.add(parent, child, row)
