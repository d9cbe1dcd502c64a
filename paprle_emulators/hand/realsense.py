"""A network RealSense, by librealsense's DDS server."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

os.environ.setdefault("FASTDDS_BUILTIN_TRANSPORTS", "SHM")  # nothing leaves the machine

import numpy as np
from pyrealsense2 import pyrealdds as dds

from paprle_emulators.hand.drawn import DEPTH_UNIT, draw
from paprle_emulators.hand.model import CENTRE, FOCAL, make_hand

_SIZE = (640, 480)
FPS = 30
SERIAL = "000000000002"
_REPLY = 0.02  # [s] measured: a quicker answer comes before the client waits for it


class EmulatedRealsense:
    """One camera."""

    def __init__(self, domain: int) -> None:
        self._participant = dds.participant()
        self._participant.init(domain, "emulated-realsense")
        self._info = dds.message.device_info.from_json(
            {
                "name": "Emulated RealSense",
                "serial": SERIAL,
                "product-line": "D400",
                "topic-root": f"realsense/emulated_{SERIAL}",
            }
        )
        self._server: Any = None
        self._streams: list[Any] = []
        self._is_open = False
        self.p, self.curl, self.is_shown = np.array([0.0, 0.0, 0.55]), 0.0, True
        self.plug()

    def plug(self) -> None:
        """Appear."""
        kinds = (
            (dds.depth_stream_server("Depth", "Stereo Module"), dds.video_encoding.z16),
            (dds.color_stream_server("Color", "RGB Camera"), dds.video_encoding.rgb),
        )
        self._streams, self._is_open = [stream for stream, _ in kinds], False
        for stream, encoding in kinds:
            profile = dds.video_stream_profile(FPS, encoding, *_SIZE)
            stream.init_profiles([profile], 0)
            stream.init_options(_make_options(stream))
            stream.set_intrinsics({_make_intrinsics()})
        self._server = dds.device_server(self._participant, self._info.topic_root)
        self._server.on_control(self._answer)
        same = dds.extrinsics()
        same.rotation, same.translation = (1, 0, 0, 0, 1, 0, 0, 0, 1), (0, 0, 0)
        between = {("Depth", "Color"): same, ("Color", "Depth"): same}
        self._server.init(self._streams, [], between)
        self._server.broadcast(self._info)

    def unplug(self) -> None:
        """Disappear."""
        self._is_open = False
        server, self._server = self._server, None
        if server is not None:
            server.broadcast_disconnect(dds.time(1.0))
            self._streams = []

    def show(self) -> None:
        """Send the hand with depth."""
        if not self._is_open:
            return
        hands = [make_hand(self.p, curl=self.curl)] if self.is_shown else []
        picture = draw(*hands)
        stamp = dds.now()
        for stream, pixels in zip(
            self._streams, (picture.depth, picture.rgb), strict=True
        ):
            if stream.is_streaming():
                stream.publish_image(_make_image(pixels, stamp))

    def _answer(self, _server: Any, name: str, _control: Any, _reply: Any) -> bool:
        if name == "open-streams":
            time.sleep(_REPLY)
            threading.Thread(target=self._begin, daemon=True).start()
        return True

    def _begin(self) -> None:
        time.sleep(0.2)  # until the client reads
        for stream, encoding in zip(
            self._streams, (dds.video_encoding.z16, dds.video_encoding.rgb), strict=True
        ):
            if not stream.is_streaming():
                stream.start_streaming(encoding, *_SIZE)
        self._is_open = True


def _make_options(stream: Any) -> list[Any]:
    if stream.name() != "Depth":
        return []
    units = ["Depth Units", DEPTH_UNIT, 1e-6, 0.01, 1e-6, DEPTH_UNIT, "of a count", []]
    return [dds.option.from_json(units)]


def _make_intrinsics() -> Any:
    model = dds.video_intrinsics()
    model.width, model.height = _SIZE
    model.focal_length.x = model.focal_length.y = FOCAL
    model.principal_point.x, model.principal_point.y = CENTRE
    model.distortion.model = dds.distortion_model.none
    model.distortion.coeffs = [0.0] * 5
    return model


def _make_image(pixels: Any, stamp: Any) -> Any:
    image = dds.message.image()
    image.width, image.height = _SIZE
    image.step = pixels.strides[0]
    image.encoding = "16UC1" if pixels.ndim == 2 else "rgb8"
    image.data = bytearray(pixels.tobytes())
    image.timestamp = stamp
    return image
