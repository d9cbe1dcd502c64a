"""Cameras of the tracker."""

from __future__ import annotations

import json
import math
import time
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paprle.hardware.hand.errors import HandError

_PATIENCE_MS = 1000  # [ms] chosen: 30 images; without one a camera is gone
_DISCOVERY = 8.0  # [s] chosen: a camera on the network is found within 3 s


class Image(NamedTuple):
    """One image.

    Attributes:
        stamp_ns: Arrival, monotonic, [ns].
        rgb: Shape (height, width, 3), uint8.
        depth: Shape (height, width), counts, or None.
        unit: Of depth, [m].
        focal: [px].
        centre: Principal point, [px].
    """

    stamp_ns: int
    rgb: npt.NDArray[np.uint8]
    depth: npt.NDArray[np.uint16] | None
    unit: float
    focal: tuple[float, float]
    centre: tuple[float, float]


class HandCamera(ABC):
    """Source of images."""

    @abstractmethod
    def grab(self) -> Image:
        """Return the next image.

        Raises:
            HandError: At the end.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the camera."""


class Webcam(HandCamera):
    """OpenCV camera, or a video played once."""

    def __init__(
        self,
        device: str,
        size: tuple[int, int],
        rate: float,
        field_of_view: float,
        *,
        is_live: bool = True,
    ) -> None:
        """Open it.

        Args:
            device: Empty: the first camera.
            size: Requested, [px].
            rate: Requested, [Hz].
            field_of_view: Across the width, [rad].
            is_live: Play a file in real time, with drops.

        Raises:
            HandError: It does not open.
        """
        import cv2  # noqa: PLC0415 - an SDK of the tracker's environment

        self._cv2: Any = cv2
        source: int | str = (
            int(device or 0) if device.isdigit() or not device else device
        )
        self._capture = cv2.VideoCapture(source)
        self._name, self._view = device or "0", field_of_view
        if not self._capture.isOpened():
            raise HandError(
                f"webcam '{self._name}': expected a camera or a video file, got none"
            )
        self._is_file = isinstance(source, str) and not source.startswith("/dev/")
        if self._is_file:
            rate = self._capture.get(cv2.CAP_PROP_FPS) or rate
        else:
            for name, value in (("FRAME_WIDTH", size[0]), ("FRAME_HEIGHT", size[1]),
                                ("FPS", rate), ("BUFFERSIZE", 1)):  # fmt: skip
                self._capture.set(getattr(cv2, f"CAP_PROP_{name}"), value)
        self._period, self._is_live = 1.0 / rate, is_live
        self._begin_ns, self._n = time.monotonic_ns(), 0

    def grab(self) -> Image:
        """Return the next image.

        Raises:
            HandError: Unplugged, or over.
        """
        if self._is_file and self._is_live:
            self._wait()
        is_there, bgr = self._capture.read()
        stamp_ns = time.monotonic_ns()
        if self._is_file and not self._is_live:
            stamp_ns = self._begin_ns + round(self._n * self._period * 1e9)
        self._n += 1
        if not is_there:
            what = "the file is over" if self._is_file else "is it unplugged?"
            raise HandError(
                f"webcam '{self._name}': expected an image, got none; {what}"
            )
        height, width = bgr.shape[:2]
        focal = 0.5 * width / math.tan(0.5 * self._view)
        rgb = self._cv2.cvtColor(bgr, self._cv2.COLOR_BGR2RGB)
        centre = (0.5 * (width - 1), 0.5 * (height - 1))
        return Image(stamp_ns, rgb, None, 0.0, (focal, focal), centre)

    def close(self) -> None:
        """Close the camera."""
        self._capture.release()

    def _wait(self) -> None:
        since = (time.monotonic_ns() - self._begin_ns) * 1e-9
        while self._n < int(since / self._period) and self._capture.grab():
            self._n += 1
        time.sleep(max(0.0, self._n * self._period - since))


class Realsense(HandCamera):
    """RealSense: depth aligned to colour, by USB or network."""

    def __init__(
        self, serial: str, size: tuple[int, int], rate: float, domain: int | None
    ) -> None:
        """Open it.

        Args:
            serial: Empty: the only one.
            size: [px].
            rate: [Hz].
            domain: DDS domain; None: by USB.

        Raises:
            HandError: Missing, or without such images.
        """
        try:
            import pyrealsense2 as rs  # noqa: PLC0415 - an SDK of the tracker's
        except ImportError as err:
            raise HandError(
                f"realsense: expected the package 'pyrealsense2', got '{err}'; see "
                "leaders/hand_imu/README.md"
            ) from err
        self._name = serial or "any"
        options = {} if domain is None else {"dds": {"enabled": True, "domain": domain}}
        context = rs.context(json.dumps(options))
        self._wait_for(context, serial, 0.0 if domain is None else _DISCOVERY)
        asked = rs.config()
        if serial:
            asked.enable_device(serial)
        asked.enable_stream(rs.stream.color, *size, rs.format.rgb8, round(rate))
        asked.enable_stream(rs.stream.depth, *size, rs.format.z16, round(rate))
        self._pipeline = rs.pipeline(context)
        try:
            profile = self._pipeline.start(asked)
        except RuntimeError as err:
            raise HandError(
                f"realsense '{self._name}': expected colour and depth of {size[0]} × "
                f"{size[1]} pixels at {rate:g} Hz, got '{err}'"
            ) from err
        self._align = rs.align(rs.stream.color)
        self._unit = float(profile.get_device().first_depth_sensor().get_depth_scale())
        colour = profile.get_stream(rs.stream.color).as_video_stream_profile()
        own = colour.get_intrinsics()
        self._focal, self._centre = (own.fx, own.fy), (own.ppx, own.ppy)

    def grab(self) -> Image:
        """Return the next image.

        Raises:
            HandError: Unplugged.
        """
        while True:
            is_there, frames = self._pipeline.try_wait_for_frames(_PATIENCE_MS)
            stamp_ns = time.monotonic_ns()
            if not is_there:
                raise HandError(
                    f"realsense '{self._name}': expected an image, got none; is it "
                    "unplugged?"
                )
            frames = self._align.process(frames)
            colour, depth = frames.get_color_frame(), frames.get_depth_frame()
            if colour and depth:
                break
        rgb, counts = np.asanyarray(colour.get_data()), np.asanyarray(depth.get_data())
        return Image(stamp_ns, rgb, counts, self._unit, self._focal, self._centre)

    def close(self) -> None:
        """Stop its streams."""
        try:
            self._pipeline.stop()
        except RuntimeError:
            return  # it has stopped by itself

    def _wait_for(self, context: Any, serial: str, patience: float) -> None:
        """Wait for the camera, since the SDK would wait 15 s."""
        end = time.monotonic() + patience
        while True:
            there = [
                device.get_info(device_info)
                for device in context.query_devices()
                if device.supports(device_info := _get_serial_info())
            ]
            if there and (not serial or serial in there):
                return
            if time.monotonic() >= end:
                raise HandError(
                    f"realsense '{self._name}': expected one that is connected, got "
                    f"{', '.join(there) or 'none'}"
                )
            time.sleep(0.1)


def _get_serial_info() -> Any:
    import pyrealsense2 as rs  # noqa: PLC0415 - an SDK of the tracker's environment

    return rs.camera_info.serial_number
