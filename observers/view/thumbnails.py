"""Newest pictures, reduced."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import threading
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image

from paprle.contracts.images import EXACT, CameraInfo, Frame
from paprle.hardware.media.ids import paint_ids

_WIDE = 320  # [px] chosen: as wide as a phone shows it; larger ones cost the robot
_PERIOD = 0.1  # [s] chosen: ten pictures a second
_QUALITY = 70  # chosen: 10 kB a picture
_FAR_COUNTS = 255  # of a grey picture of depth


class Shot(NamedTuple):
    """A numbered picture: RGB (h, w, 3) and JPEG."""

    number: int
    pixels: npt.NDArray[np.uint8]
    jpeg: bytes


class Album:
    """Newest picture of each camera."""

    def __init__(self, is_watched: Callable[[], bool]) -> None:
        self.shots: dict[str, Shot] = {}
        self.cameras: dict[str, CameraInfo] = {}
        self.n_broken = 0
        self._is_watched = is_watched
        self._frames: dict[str, Frame | None] = {}
        self._numbers = itertools.count()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def take(
        self, frames: Mapping[str, Frame], cameras: Mapping[str, CameraInfo]
    ) -> None:
        """Queue new images."""
        self.cameras.update(cameras)
        self._frames.update(frames)
        if self._thread is None and not self._stop.is_set():
            self._thread = threading.Thread(target=self._run, name="album", daemon=True)
            self._thread.start()

    def drop(self, cameras: Collection[str]) -> None:
        """Clear these cameras until ``take``."""
        self._frames.update(dict.fromkeys(cameras))
        for name in cameras:
            self.shots.pop(name, None)

    def close(self) -> None:
        """Stop."""
        self._stop.set()

    def develop(self) -> None:
        """Decode new images."""
        for name in list(self._frames):
            frame = self._frames.pop(name)
            pixels = None if frame is None else shrink(frame, self.cameras[name])
            if pixels is not None:
                shot = Shot(next(self._numbers), pixels, encode(pixels))
                self.shots[name] = shot
                continue
            self.n_broken += frame is not None
            self.shots.pop(name, None)  # once more: it may have been in the making

    def _run(self) -> None:
        with contextlib.suppress(OSError):  # a machine may forbid it
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 15)
        while not self._stop.wait(_PERIOD):
            if self._is_watched():
                self.develop()
            else:
                self.shots.clear()  # who comes later is shown nothing of old


def shrink(
    frame: Frame, info: CameraInfo, wide: int = _WIDE
) -> npt.NDArray[np.uint8] | None:
    """Return RGB of ``wide`` columns at most, or None."""
    if info.find_fault(frame):
        return None
    step = max(1, -(-info.width // wide))
    if info.encoding in {"jpeg", "png"}:
        return _decode(frame.data, info, step, wide)
    dtype = "<u2" if info.encoding in EXACT else np.uint8
    n = 3 if info.encoding == "rgb8" else 1
    values = np.frombuffer(frame.data, dtype)
    small = values.reshape(info.height, info.width, n)[::step, ::step]
    if info.encoding == "ids16":
        return paint_ids(small[:, :, 0])
    if info.encoding == "depth16":
        most = max(int(small.max()), 1)
        small = (small.astype(np.uint32) * _FAR_COUNTS // most).astype(np.uint8)
    if n == 1:
        small = np.repeat(small, 3, axis=2)
    return np.ascontiguousarray(small)


def encode(pixels: npt.NDArray[np.uint8]) -> bytes:
    """Return RGB as JPEG."""
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=_QUALITY)
    return out.getvalue()


def _decode(
    data: bytes, info: CameraInfo, step: int, wide: int
) -> npt.NDArray[np.uint8] | None:
    try:
        with Image.open(io.BytesIO(data), formats=("JPEG", "PNG")) as image:
            if image.size != (info.width, info.height):
                return None  # before it is decoded: it could ask for gigabytes
            image.draft("RGB", (info.width // step, info.height // step))
            pixels = np.asarray(image.convert("RGB"))
            rest = -(-pixels.shape[1] // wide)  # only JPEG is smaller by now
            return np.ascontiguousarray(pixels[::rest, ::rest])
    except (OSError, ValueError, SyntaxError):
        return None
