"""The camera of a topic."""

from __future__ import annotations

import os
from typing import Literal

from paprle.cameras.ros.config import RosCameraConfig
from paprle.contracts.errors import DeviceError
from paprle.contracts.plugins import Camera, CameraInfo, Clock, Frame
from paprle.hardware.camera.stamps import StampMap
from paprle.hardware.ros.bus import NEWEST, Bus, BusError
from paprle.hardware.ros.images import (
    COMPRESSED_IMAGE,
    IMAGE,
    RosImage,
    decode_compressed,
    decode_image,
)
from paprle.hardware.ros.messages import MessageError
from paprle.hardware.ros.transports.choice import open_bus

_DEPTH_UNIT = 0.001  # [m] spec: REP 118, which ``paprle.hardware.ros.images`` follows
_CODED = {"jpeg", "png"}
_TOLD = 100  # chosen: of images refused, one in so many is told


class RosCamera(Camera):
    """Images stamped by header or arrival."""

    config: RosCameraConfig

    def __init__(self, config: RosCameraConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._bus: Bus | None = None
        self._newest: tuple[RosImage, int] | None = None
        self._stamps = StampMap()
        self._is_stamped = False
        self._n_refused = 0
        self._warnings: list[str] = []

    @property
    def info(self) -> CameraInfo:
        """The configured description."""
        config = self.config
        unit = _DEPTH_UNIT if config.kind == "depth16" else 0.0
        # JPEGs of a scene at rest may be equal: only raw images always have noise
        is_noisy = config.kind in {"rgb8", "mono8"}
        return config.make_info(
            config.width, config.height, config.kind, depth_unit=unit, is_noisy=is_noisy
        )

    @property
    def stamped_by(self) -> Literal["device", "arrival"]:
        """``device`` if headers have a stamp."""
        return "device" if self._is_stamped else "arrival"

    def open(self) -> None:
        """Join the graph; wait for an image."""
        self.close()
        config = self.config
        is_coded = config.kind in _CODED
        kind = COMPRESSED_IMAGE if is_coded else IMAGE
        try:
            self._bus = open_bus(config, f"paprle_camera_{os.getpid()}")
            self._bus.subscribe(config.topic, kind, self._take, NEWEST)
            is_there = self._bus.wait_until(
                lambda: self._newest is not None, config.timeout
            )
        except BusError as err:
            self.close()
            raise DeviceError(f"camera '{config.topic}': {err}") from err
        if not is_there:
            why = self._explain(self._bus)
            self.close()
            raise DeviceError(
                f"camera '{config.topic}': expected a {kind} within {config.timeout:g} "
                f"[s], got {why}"
            )

    def grab(self, timeout: float) -> Frame | None:
        """Return the newest unread image."""
        if self._bus is None:
            raise DeviceError(
                f"camera '{self.config.topic}': expected an open camera; call open()"
            )
        try:
            self._bus.wait_until(lambda: self._newest is not None, timeout)
        except BusError as err:
            raise DeviceError(f"camera '{self.config.topic}': {err}") from err
        taken, self._newest = self._newest, None
        return None if taken is None else Frame(taken[1], taken[0].data)

    def take_warnings(self) -> list[str]:
        """Return reasons for refused images."""
        taken, self._warnings = self._warnings, []
        return taken

    def close(self) -> None:
        """Leave the graph."""
        if self._bus is not None:
            self._bus.close()
        self._bus = self._newest = None

    def _take(self, data: bytes) -> None:
        arrived_ns, config = self.clock(), self.config
        if self._bus is None:
            return
        decode = decode_compressed if config.kind in _CODED else decode_image
        try:
            image = decode(self._bus.codec, data)
            self._check(image)
        except MessageError as err:
            if self._n_refused % _TOLD == 0:
                self._warnings.append(f"camera '{config.topic}': {err}")
            self._n_refused += 1
            return
        self._is_stamped = image.stamp_ns > 0
        stamp_ns = arrived_ns
        if self._is_stamped:
            stamp_ns = self._stamps.map(image.stamp_ns, arrived_ns)
        self._newest = (image, stamp_ns)

    def _check(self, image: RosImage) -> None:
        config = self.config
        size = (config.width, config.height)
        if image.form != config.kind:
            raise MessageError(
                f"expected {config.kind}, got {image.form}; set kind to it"
            )
        if image.width and (image.width, image.height) != size:
            raise MessageError(
                f"expected {size[0]} × {size[1]} pixels, got {image.width} × "
                f"{image.height}; set width and height to these"
            )

    def _explain(self, bus: Bus) -> str:
        if self._n_refused:
            return f"{self._n_refused} that cannot be used: {self._warnings[0]}"
        n = bus.count_publishers(self.config.topic)
        if n:
            return f"none of {n} publisher(s)"
        images = [
            topic
            for topic, kind in bus.list_topics().items()
            if kind in {IMAGE, COMPRESSED_IMAGE}
        ]
        return f"no publisher; topics of images: {', '.join(sorted(images)) or 'none'}"
