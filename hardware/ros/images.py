"""ROS images as RGB, grey, or 16-bit depth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from paprle.hardware.ros.messages import Codec, MessageError

IMAGE = "sensor_msgs/msg/Image"
COMPRESSED_IMAGE = "sensor_msgs/msg/CompressedImage"

Form = Literal["rgb8", "mono8", "depth16", "jpeg", "png"]

_MOST_PIXELS = 1 << 26  # chosen: 8192 × 8192; more is damage
_DEPTH_UNIT = 0.001  # [m] spec: REP 118: 16UC1 is in millimetres, 32FC1 in metres
# spec: sensor_msgs/image_encodings.hpp: channels, bytes each, and where RGB stand
_COLOURS: Mapping[str, tuple[int, tuple[int, ...]]] = {
    "rgb8": (3, (0, 1, 2)),
    "bgr8": (3, (2, 1, 0)),
    "rgba8": (4, (0, 1, 2)),
    "bgra8": (4, (2, 1, 0)),
    "8UC3": (3, (2, 1, 0)),
}
_GREYS = {"mono8", "8UC1"}
_DEPTHS = {"16UC1": 2, "mono16": 2, "32FC1": 4}


class RosImage(NamedTuple):
    """Image without padding, rows from the top, or a file; depth in [mm].

    Attributes:
        stamp_ns: Sender's clock, [ns]; 0: none.
        width: [px]; 0: unknown.
    """

    stamp_ns: int
    width: int
    height: int
    form: Form
    data: bytes


def decode_image(codec: Codec, data: bytes) -> RosImage:
    """Return an Image message's image.

    Raises:
        MessageError: Broken, or unknown encoding.
    """
    message = codec.decode(data, IMAGE)
    form, rows = _read_rows(message)
    return RosImage(
        _find_stamp(message), int(message.width), int(message.height), form, rows
    )


def decode_compressed(codec: Codec, data: bytes) -> RosImage:
    """Return a CompressedImage's JPEG or PNG.

    Raises:
        MessageError: Neither.
    """
    message = codec.decode(data, COMPRESSED_IMAGE)
    coded = bytes(message.data)
    if coded.startswith(b"\xff\xd8\xff"):  # spec: ISO/IEC 10918-1, SOI
        form: Form = "jpeg"
    elif coded.startswith(b"\x89PNG\r\n\x1a\n"):  # spec: PNG, 5.2
        form = "png"
    else:
        raise MessageError(
            f"{COMPRESSED_IMAGE}: expected JPEG or PNG, got '{message.format[:40]}'"
        )
    return RosImage(_find_stamp(message), 0, 0, form, coded)


def _find_stamp(message: Any) -> int:
    stamp = message.header.stamp
    return int(stamp.sec) * 10**9 + int(stamp.nanosec)


def _read_rows(message: Any) -> tuple[Form, bytes]:
    encoding = str(message.encoding)
    if encoding in _COLOURS:
        n, order = _COLOURS[encoding]
        pixels = _take_pixels(message, np.dtype((np.uint8, n)))
        return "rgb8", np.ascontiguousarray(pixels[:, :, list(order)]).tobytes()
    if encoding in _GREYS:
        return "mono8", _take_pixels(message, np.dtype(np.uint8)).tobytes()
    if encoding in _DEPTHS:
        sign = ">" if message.is_bigendian else "<"
        kind = "f4" if encoding == "32FC1" else "u2"
        pixels = _take_pixels(message, np.dtype(f"{sign}{kind}"))
        if kind == "f4":
            counts = np.nan_to_num(
                pixels / _DEPTH_UNIT, nan=0.0, posinf=0.0, neginf=0.0
            )
            pixels = np.where((counts > 0) & (counts < 65536), np.rint(counts), 0)
        return "depth16", pixels.astype("<u2").tobytes()
    known = ", ".join([*_COLOURS, *sorted(_GREYS), *_DEPTHS])
    raise MessageError(f"{IMAGE}: expected one of {known}, got '{encoding[:40]}'")


def _take_pixels(message: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    height, width, step = int(message.height), int(message.width), int(message.step)
    data = np.ascontiguousarray(message.data, dtype=np.uint8)
    row = width * dtype.itemsize
    is_whole = 0 < width * height <= _MOST_PIXELS and step >= row
    if not is_whole or data.size < step * (height - 1) + row:
        raise MessageError(
            f"{IMAGE}: expected {width} × {height} pixels in rows of {step} bytes, got "
            f"{data.size} bytes"
        )
    padded = np.zeros((height, step), np.uint8) if data.size < step * height else None
    if padded is not None:  # the last row may end where its pixels do
        padded.ravel()[: data.size] = data
    rows = data[: step * height].reshape(height, step) if padded is None else padded
    pixels = np.ascontiguousarray(rows[:, :row]).view(dtype.base)
    return pixels.reshape(height, width, *dtype.shape)
