"""The camera of pictures."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paprle.cameras.pictures.config import PicturesConfig
from paprle.contracts.errors import DeviceError, MissingDependency
from paprle.contracts.plugins import Camera, CameraInfo, Clock, Frame

# spec: PNG, section 5: signature, and IHDR as the first chunk
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_SIZE_AT = 16  # [bytes] width and height, big-endian
_NAP = 0.001  # [s] chosen: how often the clock is looked at while waiting


class Pictures(Camera):
    """Pictures as RGB rows, in a loop."""

    config: PicturesConfig

    def __init__(self, config: PicturesConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._images: list[bytes] = []
        self._next = 0
        self._due_ns = 0

    @property
    def info(self) -> CameraInfo:
        """Calibration, and size of the first picture.

        Raises:
            DeviceError: If there is no picture.
        """
        width, height = _read_size(self._list_paths()[0])
        return self.config.make_info(width, height, "rgb8")

    def open(self) -> None:
        """Decode all pictures; MissingDependency without OpenCV."""
        decode = _load_decoder()
        info = self.info
        self._images = []
        for path in self._list_paths():
            image = decode(path)
            if image is None or image.shape[:2] != (info.height, info.width):
                self.close()
                size = f"{info.width} × {info.height}"
                raise DeviceError(
                    f"camera 'pictures': expected a picture of {size} pixels, got "
                    f"'{path.name}'; all pictures of a folder have one size"
                )
            self._images.append(image.tobytes())
        self._next, self._due_ns = 0, self.clock()

    def grab(self, timeout: float) -> Frame | None:
        """Return the next picture when due."""
        if not self._images:
            raise DeviceError("camera 'pictures': expected an open camera; call open()")
        end = time.monotonic() + timeout
        while self.clock() < self._due_ns:
            if time.monotonic() >= end:
                return None
            time.sleep(_NAP)  # noqa: TID251 - a camera may block
        stamp_ns, period_ns = self.clock(), round(1e9 / self.config.fps)
        image = self._images[self._next % len(self._images)]
        self._next += 1
        # who is late by more than a picture leaves some out
        self._due_ns = max(self._due_ns + period_ns, stamp_ns)
        return Frame(stamp_ns, image)

    def close(self) -> None:
        """Drop the pictures."""
        self._images = []

    def _list_paths(self) -> list[Path]:
        paths = sorted(Path(self.config.folder).glob("*.png"))
        if not paths:
            raise DeviceError(
                f"camera 'pictures': expected *.png in '{self.config.folder}', got none"
            )
        return paths


def _read_size(path: Path) -> tuple[int, int]:
    with path.open("rb") as stream:
        head = stream.read(_SIZE_AT + 8)
    if len(head) < _SIZE_AT + 8 or not head.startswith(_SIGNATURE):
        raise DeviceError(
            f"camera 'pictures': expected a PNG picture, got '{path.name}'"
        )
    width, height = struct.unpack_from(">II", head, _SIZE_AT)
    return width, height


def _load_decoder() -> Callable[[Path], npt.NDArray[np.uint8] | None]:
    """Return a decoder to RGB (height, width, 3), or None."""
    try:
        import cv2  # noqa: PLC0415 - an SDK: whoever asks for ``info`` alone needs none
    except ModuleNotFoundError as err:
        raise MissingDependency(
            "camera 'pictures': expected the package 'opencv-python-headless', got "
            "none; install it with: pip install 'paprle[cameras]'"
        ) from err

    def decode(path: Path) -> npt.NDArray[np.uint8] | None:
        data = np.frombuffer(path.read_bytes(), dtype=np.uint8)
        image = cv2.imdecode(data, cv2.IMREAD_COLOR) if data.size else None
        return None if image is None else np.ascontiguousarray(image[:, :, ::-1])

    return decode
