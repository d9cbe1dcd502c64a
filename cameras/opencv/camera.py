"""The camera and its reader thread."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from paprle.cameras.opencv.config import OpencvConfig
from paprle.cameras.opencv.devices import list_devices
from paprle.contracts.errors import DeviceError, MissingDependency
from paprle.contracts.plugins import Camera, CameraInfo, Clock, FoundCamera, Frame
from paprle.hardware.camera.newest import NewestOf

_LIVE = 0.15  # [periods] chosen: an image that took less to come had been waiting
_N_OLD = 300  # [images] chosen: 10 s of a stream that was looked at to know what it is
_OLDEST = 1.0  # [s] chosen: a stamp older than this is of another clock
_SILENCE = 1.0  # [s] chosen: of a stream, until it counts as broken off


class _Read(NamedTuple):
    """One image and its device time on our clock, [ns]."""

    image: npt.NDArray[np.uint8]
    taken_ns: int | None


class OpencvCamera(Camera):
    """Images as RGB rows."""

    config: OpencvConfig

    def __init__(self, config: OpencvConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._capture: Any = None
        self._newest: NewestOf[_Read] | None = None
        self._is_stamped = False
        self._due = 0.0
        self._n_old = 0

    @classmethod
    def find(cls) -> Iterator[FoundCamera]:
        """Yield V4L2 devices with images."""
        for device in list_devices():
            yield FoundCamera(device.name, {"device": str(device.path)})

    @classmethod
    def look_at(cls, address: str) -> FoundCamera:
        """Return a stream and its image size."""
        camera = cls(OpencvConfig(device=address), time.monotonic_ns)
        capture = camera._make_capture(_load_cv2())
        try:
            is_there, image = capture.read()
        finally:
            capture.release()
        if not is_there:
            raise DeviceError(camera._say("a camera that answers", camera._explain()))
        height, width = image.shape[:2]
        size = {"width": str(width), "height": str(height)}
        return FoundCamera(address, {"device": address, **size})

    @property
    def info(self) -> CameraInfo:
        """The configured description."""
        config = self.config
        return config.make_info(
            config.width, config.height, "rgb8", is_noisy=not self._is_file
        )

    @property
    def stamped_by(self) -> Literal["device", "arrival"]:
        """Kernel stamps; streams have none."""
        return "device" if self._is_stamped else "arrival"

    @property
    def closing_notes(self) -> tuple[str, ...]:
        """Number of dropped late stream images."""
        n = self._n_old
        return (f"{n} images came late and were left out",) if n else ()

    def open(self) -> None:
        """Connect, and wait for an image; MissingDependency without OpenCV."""
        self.close()
        cv2 = _load_cv2()
        self._capture = self._make_capture(cv2)
        if not self._capture.isOpened():
            self.close()
            raise DeviceError(self._say("a camera that answers", self._explain()))
        try:
            self._catch_up()
        except DeviceError:
            self.close()
            raise
        self._due = time.monotonic()
        self._newest = NewestOf(self._read, f"opencv {self.config.device}")

    def grab(self, timeout: float) -> Frame | None:
        """Return the newest unread image."""
        if self._newest is None:
            raise DeviceError(self._say("an open camera", "a closed one; call open()"))
        try:
            read = self._newest.pop(timeout)
        except EOFError as err:
            why = err.__cause__ or "nothing more"
            raise DeviceError(self._say("images", f"{why}; is it unplugged?")) from err
        if read is None:
            return None
        taken_ns = self.clock() if read.taken_ns is None else read.taken_ns
        return Frame(taken_ns, read.image[:, :, ::-1].tobytes())

    def close(self) -> None:
        """Release the device."""
        newest, self._newest = self._newest, None
        capture, self._capture = self._capture, None
        has_ended = newest is None or newest.close()
        if capture is not None and has_ended:  # a driver that hangs keeps it
            capture.release()

    @property
    def _is_file(self) -> bool:
        return Path(self.config.device).is_file()

    @property
    def _is_device(self) -> bool:
        return self.config.device.startswith("/dev/")

    def _make_capture(self, cv2: Any) -> Any:
        config = self.config
        if not self._is_device:
            wait_ms = [round(1e3 * config.timeout), round(1e3 * _SILENCE)]
            keys = [cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, cv2.CAP_PROP_READ_TIMEOUT_MSEC]
            pairs = [int(x) for pair in zip(keys, wait_ms, strict=True) for x in pair]
            return cv2.VideoCapture(config.device, cv2.CAP_FFMPEG, pairs)
        capture = cv2.VideoCapture(config.device, cv2.CAP_V4L2)
        if config.fourcc:
            capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*config.fourcc))
        capture.set(cv2.CAP_PROP_FRAME_WIDTH, config.width)
        capture.set(cv2.CAP_PROP_FRAME_HEIGHT, config.height)
        capture.set(cv2.CAP_PROP_FPS, config.fps)
        capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)
        return capture

    def _catch_up(self) -> None:
        end = time.monotonic() + self.config.timeout
        for _ in range(1 if self._is_file else _N_OLD):
            begin = time.monotonic()
            read = self._read_once()
            if read is None:
                raise DeviceError(
                    self._say("images", "none; does another program use it?")
                )
            self._is_stamped = read.taken_ns is not None
            if begin > end or self._was_live(begin):
                return

    def _was_live(self, begin: float) -> bool:
        return time.monotonic() - begin > _LIVE / self.config.fps

    def _read(self) -> _Read | None:
        if self._is_file:
            self._due = max(self._due + 1.0 / self.config.fps, time.monotonic() - 1.0)
            nap = max(0.0, self._due - time.monotonic())
            time.sleep(nap)  # noqa: TID251 - a camera may block
            read = self._read_once()
            if read is None:
                self._capture.set(_load_cv2().CAP_PROP_POS_FRAMES, 0)
                read = self._read_once()
            return read
        for _ in range(_N_OLD):
            begin = time.monotonic()
            read = self._read_once()
            if read is None or read.taken_ns is not None or self._was_live(begin):
                return read
            self._n_old += 1  # nobody knows how old it is
        return read

    def _read_once(self) -> _Read | None:
        is_there, image = self._capture.read()
        if not is_there:
            return None
        arrived_ns, config = time.monotonic_ns(), self.config
        if image.shape != (config.height, config.width, 3):
            height, width = image.shape[:2]
            asked = f"images of {config.width} × {config.height} pixels"
            got = f"{width} × {height}; set width and height to these"
            raise DeviceError(self._say(asked, got))
        return _Read(image, self._find_stamp(arrived_ns))

    def _find_stamp(self, arrived_ns: int) -> int | None:
        """Return the kernel stamp, [ns], or None."""
        if not self._is_device:
            return None
        taken_ns = round(self._capture.get(_load_cv2().CAP_PROP_POS_MSEC) * 1e6)
        return taken_ns if 0 <= arrived_ns - taken_ns < _OLDEST * 1e9 else None

    def _explain(self) -> str:
        if not self._is_device:
            return "none; is the address right, and the camera on?"
        there = ", ".join(str(device.path) for device in list_devices()) or "none"
        return f"none; there are: {there} (paprle find-cameras)"

    def _say(self, expected: str, got: str) -> str:
        return f"camera '{self.config.device}': expected {expected}, got {got}"


def _load_cv2() -> Any:
    try:
        import cv2  # noqa: PLC0415 - an SDK: whoever asks for ``info`` alone needs none
    except ModuleNotFoundError as err:
        raise MissingDependency(
            "camera 'opencv': expected the package 'opencv-python-headless', got none; "
            "install it with: pip install 'paprle[cameras]'"
        ) from err
    return cv2
