"""The camera of librealsense frames."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

from paprle.cameras.realsense.config import RealsenseConfig
from paprle.contracts.errors import DeviceError, MissingDependency
from paprle.contracts.plugins import Camera, CameraInfo, Clock, FoundCamera, Frame
from paprle.hardware.camera.stamps import StampMap

_DEPTH_UNIT = 0.001  # [m] chosen: as most of them count; others are converted
_PIXEL = 1.0  # [px] chosen: intrinsics that differ by more are another camera's


class RealsenseCamera(Camera):
    """Images with device stamps, mapped to our clock."""

    config: RealsenseConfig

    def __init__(self, config: RealsenseConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._pipeline: Any = None
        self._device: Any = None
        self._align: Any = None
        self._stamps = StampMap()
        self._scale = 1.0
        self._n_frame = 0
        self._note = ""

    @classmethod
    def find(cls) -> Iterator[FoundCamera]:
        """Yield connected devices."""
        rs = _load_sdk()
        for device in rs.context().query_devices():
            name = device.get_info(rs.camera_info.name)
            serial = device.get_info(rs.camera_info.serial_number)
            yield FoundCamera(name, {"serial": serial})

    @property
    def info(self) -> CameraInfo:
        """The configured description."""
        config = self.config
        return config.make_info(
            config.width,
            config.height,
            "rgb8",
            depth_unit=_DEPTH_UNIT if config.depth else 0.0,
            is_noisy=not config.recording,
        )

    @property
    def stamped_by(self) -> Literal["device", "arrival"]:
        """Device stamps."""
        return "device"

    @property
    def notes(self) -> tuple[str, ...]:
        """The device's calibration, if different."""
        return (self._note,) if self._note else ()

    def open(self) -> None:
        """Start the streams; MissingDependency without librealsense."""
        self.close()
        rs, config = _load_sdk(), self.config
        self._check_is_there()
        self._pipeline = rs.pipeline()
        try:
            profile = self._pipeline.start(self._choose(rs))
        except RuntimeError as err:
            self._pipeline = None
            raise DeviceError(
                self._say(
                    f"streams of {config.width} × {config.height} pixels at "
                    f"{config.fps:g} Hz",
                    f"'{err}'; paprle find-cameras shows what is connected",
                )
            ) from err
        self._device = profile.get_device()
        self._align = rs.align(rs.stream.color)
        self._note = self._compare(profile.get_stream(rs.stream.color))
        if config.depth:
            sensor = self._device.first_depth_sensor()
            self._scale = float(sensor.get_depth_scale()) / _DEPTH_UNIT
        self._stamps, self._n_frame = StampMap(), 0
        if self._take(config.timeout) is None:
            self.close()
            raise DeviceError(self._say("images", "none; is it on a USB 3 port?"))

    def grab(self, timeout: float) -> Frame | None:
        """Return the next image with depth."""
        if self._pipeline is None:
            raise DeviceError(self._say("an open camera", "a closed one; call open()"))
        frame = self._take(timeout)
        if frame is None and self._is_gone():
            raise DeviceError(self._say("images", "no device; is it unplugged?"))
        return frame

    def close(self) -> None:
        """Stop the streams."""
        pipeline, self._pipeline = self._pipeline, None
        self._device = None
        if pipeline is not None:
            try:
                pipeline.stop()
            except RuntimeError:
                return  # it has stopped by itself

    def _check_is_there(self) -> None:
        config = self.config
        if config.recording:
            if not Path(config.recording).is_file():
                raise DeviceError(self._say("a file", "none of this name"))
            return
        there = [found.settings["serial"] for found in self.find()]
        if not there or (config.serial and config.serial not in there):
            listed = ", ".join(there) or "none"
            raise DeviceError(self._say("one that is connected", listed))

    def _choose(self, rs: Any) -> Any:
        asked, config = rs.config(), self.config
        if config.recording:
            asked.enable_device_from_file(config.recording, False)
        elif config.serial:
            asked.enable_device(config.serial)
        size = (config.width, config.height)
        asked.enable_stream(rs.stream.color, *size, rs.format.rgb8, round(config.fps))
        if config.depth:
            fps = round(config.fps)
            asked.enable_stream(rs.stream.depth, *size, rs.format.z16, fps)
        return asked

    def _take(self, timeout: float) -> Frame | None:
        end = time.monotonic() + timeout
        while (left := end - time.monotonic()) > 0:
            is_there, frames = self._pipeline.try_wait_for_frames(
                max(1, int(1e3 * left))
            )
            if not is_there:
                return None
            arrived_ns = self.clock()
            if self.config.depth:
                frames = self._align.process(frames)
            image = frames.get_color_frame()
            depth = frames.get_depth_frame() if self.config.depth else None
            if not image or (self.config.depth and not depth):
                continue
            number = image.get_frame_number()
            if number == self._n_frame:  # a set with a newer depth alone
                continue
            self._n_frame = number
            taken_ns = round(image.get_timestamp() * 1e6)
            rows = np.asanyarray(image.get_data()).tobytes()
            counts = b"" if depth is None else self._count(depth)
            return Frame(self._stamps.map(taken_ns, arrived_ns), rows, counts)
        return None

    def _count(self, depth: Any) -> bytes:
        counts = np.asanyarray(depth.get_data())
        if abs(self._scale - 1.0) > 1e-6:
            scaled = np.rint(counts * self._scale)
            counts = np.where(scaled < 65536, scaled, 0)
        return bytes(counts.astype("<u2").tobytes())

    def _is_gone(self) -> bool:
        if self.config.recording:
            stopped = _load_sdk().playback_status.stopped
            return bool(self._device.as_playback().current_status() == stopped)
        return not self._device.is_connected()

    def _compare(self, profile: Any) -> str:
        own = profile.as_video_stream_profile().get_intrinsics()
        K = self.info.K
        found = np.array([own.fx, own.fy, own.ppx, own.ppy])
        asked = np.array([K[0, 0], K[1, 1], K[0, 2], K[1, 2]])
        if (np.abs(found - asked) <= _PIXEL).all():
            return ""
        return (
            f"its own calibration is focal=[{own.fx:.2f}, {own.fy:.2f}] "
            f"centre=[{own.ppx:.2f}, {own.ppy:.2f}]: set these, for they are recorded"
        )

    def _say(self, expected: str, got: str) -> str:
        name = self.config.recording or self.config.serial or "any"
        return f"camera 'realsense' ({name}): expected {expected}, got {got}"


def _load_sdk() -> Any:
    try:
        import pyrealsense2  # noqa: PLC0415 - an SDK: ``info`` alone needs none
    except ImportError as err:
        raise MissingDependency(
            f"camera 'realsense': expected the package 'pyrealsense2', got '{err}'; "
            "install it with: pip install 'paprle[realsense]' && apt-get install "
            "libusb-1.0-0"
        ) from err
    return pyrealsense2
