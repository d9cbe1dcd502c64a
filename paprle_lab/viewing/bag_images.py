"""Images of a bag's topic, kept in a file."""

from __future__ import annotations

import io
import tempfile
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image

from paprle.contracts.images import CameraInfo, Encoding, Frame
from paprle_lab.viewing.plain_camera import make_plain_camera

_MOST_BYTES = 4 << 30  # chosen: of images copied to a temporary file
_LATE = 3.0  # chosen: periods without a picture, after which the last one is old
_SPOOL = "/var/tmp"  # chosen: on a disk, where /tmp may be memory
_CHANNELS = {"rgb8": 3, "bgr8": 3, "mono8": 1, "rgba8": 4, "bgra8": 4}
_DEPTHS = {"16UC1", "mono16"}
Pixels = npt.NDArray[np.uint8]


class BagImage(NamedTuple):
    """An image of a message; ``shape``: width, height [px] and encoding."""

    data: bytes
    shape: tuple[int, int, Encoding]


class ImageReel:
    """Images of one topic, in an unnamed file."""

    def __init__(self) -> None:
        self._spool = tempfile.TemporaryFile(dir=_SPOOL)  # noqa: SIM115 - for its life
        self.stamps_ns = list[int]()
        self._ends = [0]
        self._shape: tuple[int, int, Encoding] = (0, 0, "rgb8")

    def add(self, t_ns: int, image: BagImage | None) -> None:
        """Add an image, unless unlike the first."""
        if image is None or self.is_full:
            return
        if not self.stamps_ns:
            self._shape = image.shape
        is_later = not self.stamps_ns or t_ns > self.stamps_ns[-1]
        if image.shape == self._shape and is_later:
            self._spool.write(image.data)
            self.stamps_ns.append(t_ns)
            self._ends.append(self._ends[-1] + len(image.data))

    @property
    def is_full(self) -> bool:
        """Whether further images are left out."""
        return self._ends[-1] > _MOST_BYTES

    def make_info(self) -> CameraInfo:
        """Return the properties of the images."""
        return make_plain_camera(*self._shape, fps=1e9 / self._period_ns)

    def find(self, t_ns: int) -> Frame | None:
        """Return the newest image; None if missing or old."""
        k = max(int(np.searchsorted(self.stamps_ns, t_ns, side="right")) - 1, 0)
        if abs(t_ns - self.stamps_ns[k]) > _LATE * self._period_ns:
            return None
        self._spool.seek(self._ends[k])
        data = self._spool.read(self._ends[k + 1] - self._ends[k])
        return Frame(self.stamps_ns[k], data)

    def close(self) -> None:
        """Close the file."""
        self._spool.close()

    @property
    def _period_ns(self) -> float:
        if len(self.stamps_ns) < 2:
            return 1e9
        return max(float(np.median(np.diff(self.stamps_ns))), 1.0)


def read_image(message: Any) -> BagImage | None:
    """Return an image; None if damaged or unsupported."""
    if not hasattr(message, "height"):
        return _read_compressed(bytes(message.data))
    width, height, step = int(message.width), int(message.height), int(message.step)
    rows = np.frombuffer(bytes(message.data), np.uint8)
    if not width or not height or rows.size != step * height:
        return None
    form, table = str(message.encoding), rows.reshape(height, step)
    if form in _DEPTHS and step >= 2 * width:
        order = ">u2" if message.is_bigendian else "<u2"
        depth = table[:, : 2 * width].copy().view(order).astype("<u2")
        return BagImage(depth.tobytes(), (width, height, "depth16"))
    n = _CHANNELS.get(form, 0)
    if not n or step < n * width:
        return None
    return _read_pixels(form, table[:, : n * width].reshape(height, width, n))


def _read_pixels(form: str, pixels: Pixels) -> BagImage:
    height, width, n = pixels.shape
    if n == 1:
        return BagImage(pixels.tobytes(), (width, height, "mono8"))
    colours = pixels[:, :, 2::-1] if form.startswith("bgr") else pixels[:, :, :3]
    return BagImage(colours.tobytes(), (width, height, "rgb8"))


def _read_compressed(data: bytes) -> BagImage | None:
    encoding: Encoding = "jpeg" if data.startswith(b"\xff\xd8") else "png"
    try:
        with Image.open(io.BytesIO(data), formats=("JPEG", "PNG")) as image:
            return BagImage(data, (*image.size, encoding))
    except (OSError, ValueError, SyntaxError):
        return None
