"""Colour as JPEG in parts, with the lens.

Pictures are coarse enough to leave within 0.1 s; incomplete ones are dropped.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import cv2
import numpy as np
import numpy.typing as npt

from paprle.hardware.media.fragments import OVERHEAD, PAYLOAD, Fragment
from paprle.hardware.media.rate import RateEstimator
from paprle.hardware.media.receiver import Asker
from paprle.hardware.media.sender import Spreader

COLOUR = 128
"""Added to a camera's number, it asks for its colour in place of its clouds."""
# width, height, fx, fy, cx, cy of the JPEG that follows
HEAD = struct.Struct("<HHffff")
_LEAVES = 0.1  # [s] chosen: late by no more, at ten pictures a second
_LEVELS = ((1.0, 80), (1.0, 60), (1.0, 40), (0.5, 60), (0.5, 40), (0.25, 40))
"""Size as a share of the image's, and JPEG's quality; chosen: in equal steps by eye."""
_ROOM = 0.5  # chosen: a level finer is twice as large at most

Pixels = npt.NDArray[np.uint8]


class Lens(Protocol):
    """A camera's image properties."""

    width: int
    height: int
    encoding: str

    @property
    def K(self) -> npt.NDArray[np.float64]:
        """Pinhole model, shape (3, 3), [px]; NaN if not calibrated."""


class Colour(NamedTuple):
    """A complete picture.

    Attributes:
        stamp_ns: Exposure, our clock, late by the quickest datagram's way, [ns].
        data: ``HEAD`` and the JPEG.
    """

    stamp_ns: int
    data: bytes


class ColourSender(Spreader[bytes]):
    """Sender of images, as coarse as the link requires."""

    def __init__(
        self,
        secret: bytes,
        number: int,
        lens: Lens,
        rate: RateEstimator,
        pose_rate: float,
    ) -> None:
        """Take the lens and the rate of poses, [bytes/s]."""
        super().__init__(secret, COLOUR + number, rate, pose_rate)
        self._lens = lens
        self._level = len(_LEVELS) - 1  # a link is found to be good by and by

    def _cut(self, image: bytes) -> list[bytes]:
        pixels = read_pixels(self._lens, image)
        if pixels is None:
            self.counts["unreadable"] += 1
            return []
        room = max(0.0, self.rate.rate - self._pose_rate) * _LEAVES
        room *= PAYLOAD / (PAYLOAD + OVERHEAD)
        data = encode(pixels, self._lens.K, *_LEVELS[self._level])
        while len(data) > room and self._level < len(_LEVELS) - 1:
            self._level += 1
            data = encode(pixels, self._lens.K, *_LEVELS[self._level])
        if len(data) < _ROOM * room:
            self._level = max(0, self._level - 1)
        return [data[k : k + PAYLOAD] for k in range(0, len(data), PAYLOAD)]


class ColourReceiver(Asker[Colour]):
    """Receiver of colour."""

    def __init__(self, secret: bytes, number: int) -> None:
        """Take the secret and the camera's number."""
        super().__init__(secret, COLOUR + number)

    def _join(self, parts: Sequence[Fragment], stamp_ns: int) -> Colour | None:
        if len(parts) < parts[0].n_parts:
            self.counts["pictures broken"] += 1
            return None
        data = b"".join(part.body for part in sorted(parts, key=lambda one: one.part))
        if len(data) <= HEAD.size:
            self.counts["refused"] += 1
            return None
        return Colour(stamp_ns, data)


def read_pixels(lens: Lens, data: bytes) -> Pixels | None:
    """Return an image, shape (height, width, 3), BGR, or None."""
    size = (lens.height, lens.width)
    if lens.encoding in ("rgb8", "mono8"):
        to_bgr = cv2.COLOR_RGB2BGR if lens.encoding == "rgb8" else cv2.COLOR_GRAY2BGR
        pixels = np.frombuffer(data, np.uint8).reshape(*size, -1)
        return np.asarray(cv2.cvtColor(pixels, to_bgr), np.uint8)
    decoded = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    return None if decoded is None else np.asarray(decoded, np.uint8)


def encode(
    pixels: Pixels, K: npt.NDArray[np.float64], scale: float, quality: int
) -> bytes:
    """Return ``HEAD`` and a JPEG.

    Args:
        pixels: Shape (height, width, 3), BGR.
        K: Pinhole model, shape (3, 3), [px].
        scale: Of its size.
        quality: 0 … 100.
    """
    height, width = pixels.shape[:2]
    if scale < 1.0:
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        pixels = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA))
    sx, sy = pixels.shape[1] / width, pixels.shape[0] / height
    # a pixel's centre has whole numbers, so its edges are what scales
    head = HEAD.pack(
        pixels.shape[1],
        pixels.shape[0],
        K[0, 0] * sx,
        K[1, 1] * sy,
        (K[0, 2] + 0.5) * sx - 0.5,
        (K[1, 2] + 0.5) * sy - 0.5,
    )
    _, jpeg = cv2.imencode(".jpg", pixels, (cv2.IMWRITE_JPEG_QUALITY, quality))
    return head + jpeg.tobytes()
