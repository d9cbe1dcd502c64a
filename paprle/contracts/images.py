"""What cameras give: one image, and what all images of a camera are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import pinocchio as pin

from paprle.contracts.types import Vec

Encoding = Literal["rgb8", "mono8", "jpeg", "png"]
"""Of an image's bytes; raw images are rows from the top, without padding."""

_BYTES_PER_PIXEL = {"rgb8": 3, "mono8": 1, "jpeg": 3, "png": 3}
_CODED_HEAD = 4096  # [bytes] chosen: headers; noise itself does not compress


class Frame(NamedTuple):
    """One image.

    Attributes:
        stamp_ns: When it was exposed, monotonic, [ns].
        data: Its bytes, encoded as ``CameraInfo.encoding`` says.
    """

    stamp_ns: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraInfo:
    """What all images of a camera are.

    The axes of ``cam`` are those of images: x to the right, y down, z ahead.

    Attributes:
        width: Of an image, [px].
        height: Of an image, [px].
        fps: Images a second, [Hz].
        encoding: Of an image's bytes.
        K: Pinhole model, shape (3, 3), [px]; NaN where it was not calibrated. A pixel's
            centre has whole numbers, (0, 0) at the top left.
        link: Link of the robot that carries it; empty: it stands in the world.
        T_link_cam: Where it is on that link, or in the world.
    """

    width: int
    height: int
    fps: float
    encoding: Encoding
    K: Vec
    link: str
    T_link_cam: pin.SE3

    @property
    def max_bytes(self) -> int:
        """Largest size of one image, [bytes]."""
        n = self.width * self.height * _BYTES_PER_PIXEL[self.encoding]
        return n if self.encoding in {"rgb8", "mono8"} else n + _CODED_HEAD
