"""Images of cameras."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import pinocchio as pin

from paprle.contracts.types import Vec

Encoding = Literal["rgb8", "mono8", "depth16", "ids16", "jpeg", "png"]
"""Of an image's bytes; raw images are rows from the top, without padding.

``depth16`` are little-endian counts of ``CameraInfo.depth_unit``, 0: none is known;
``ids16`` are little-endian numbers of what is seen there, 0: nothing.
"""

RAW: Mapping[str, int] = {"rgb8": 3, "mono8": 1, "depth16": 2, "ids16": 2}
"""Bytes a pixel of the encodings whose images all have one size."""

EXACT = frozenset({"depth16", "ids16"})
"""Encodings whose pixels are numbers: they are kept to the last bit, and no colours."""

_CODED_BYTES = 3  # spec: of a pixel that does not compress at all, RGB
_CODED_HEAD = 4096  # [bytes] chosen: headers; noise itself does not compress
_DEPTH_BYTES = 2  # spec: 16 bits a pixel


class Frame(NamedTuple):
    """One image, exposed at ``stamp_ns``, monotonic, [ns].

    ``depth`` is along z of the same pixels, as ``depth16``; empty: none.
    """

    stamp_ns: int
    data: bytes
    depth: bytes = b""


class RobotPose(NamedTuple):
    """Measured positions of a robot and of present objects.

    Attributes:
        stamp_ns: Monotonic, [ns].
        q: (n,), [rad] or [m].
        objects: T_world_object by name, xyz + quat_xyzw.
    """

    stamp_ns: int
    q: Vec
    objects: Mapping[str, Vec]


class FoundCamera(NamedTuple):
    """A connected camera and settings that select it."""

    name: str
    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraInfo:
    """Properties of a camera's images, in image axes: x right, y down, z ahead.

    Attributes:
        width: [px].
        height: [px].
        fps: [Hz].
        K: Pinhole model, (3, 3), [px]; NaN: uncalibrated. Pixel centres are whole
            numbers, (0, 0) at the top left.
        distortion: k1, k2, p1, p2, k3 of ``plumb_bob``.
        depth_unit: One count, [m]; 0 without depth.
        is_noisy: Identical images are repeats.
    """

    width: int
    height: int
    fps: float
    encoding: Encoding
    K: Vec
    link: str
    T_link_cam: pin.SE3
    depth_unit: float = 0.0
    is_noisy: bool = False
    distortion: tuple[float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0)

    @property
    def max_bytes(self) -> int:
        """Largest image without depth, [bytes]."""
        n = self.width * self.height
        if self.encoding in RAW:
            return n * RAW[self.encoding]
        return n * _CODED_BYTES + _CODED_HEAD

    @property
    def depth_bytes(self) -> int:
        """Size of depth, [bytes]; 0 without."""
        is_beside = self.depth_unit > 0.0 and self.encoding != "depth16"
        return self.width * self.height * _DEPTH_BYTES if is_beside else 0

    def split(self, stamp_ns: int, data: bytes) -> Frame:
        """Return the frame of joined image and depth."""
        end = len(data) - self.depth_bytes
        return Frame(stamp_ns, data[:end], data[end:])

    def find_fault(self, frame: Frame) -> str:
        """Return a frame's deviation from this, or ""."""
        n, most = len(frame.data), self.max_bytes
        if n != most if self.encoding in RAW else not 0 < n <= most:
            at_most = "" if self.encoding in RAW else "at most "
            return f"expected images of {at_most}{most} bytes, got {n}"
        if len(frame.depth) != self.depth_bytes:
            return f"expected {self.depth_bytes} bytes of depth, got {len(frame.depth)}"
        return ""
