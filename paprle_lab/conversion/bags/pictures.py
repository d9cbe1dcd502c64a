"""Pictures of messages as RGB."""

from __future__ import annotations

from typing import Any

import numpy as np

from paprle.recording.video.codec import Decoder, load_av
from paprle_lab.conversion.bags.values import find
from paprle_lab.conversion.coded_size import find_coded_size
from paprle_lab.conversion.rows import RGB

_FORMATS = {  # spec: sensor_msgs/image_encodings.hpp, and FFmpeg's names of them
    "rgb8": "rgb24",
    "bgr8": "bgr24",
    "rgba8": "rgba",
    "bgra8": "bgra",
    "mono8": "gray",
    "8UC1": "gray",
    "8UC3": "bgr24",
    "8UC4": "bgra",
    "yuv422": "uyvy422",
    "uyvy": "uyvy422",
    "yuv422_yuy2": "yuyv422",
    "yuyv": "yuyv422",
    "bayer_rggb8": "bayer_rggb8",
    "bayer_bggr8": "bayer_bggr8",
    "bayer_gbrg8": "bayer_gbrg8",
    "bayer_grbg8": "bayer_grbg8",
}
_BYTES = {"rgb24": 3, "bgr24": 3, "rgba": 4, "bgra": 4, "uyvy422": 2, "yuyv422": 2}
_ORDERS = {"rgb24": [0, 1, 2], "rgba": [0, 1, 2], "bgr24": [2, 1, 0], "bgra": [2, 1, 0]}
_VIDEO = {"h264": "h264"}
_LARGEST = 64 << 20  # [bytes] chosen: of a picture


class Pictures:
    """Pictures of one camera.

    Attributes:
        size: Height and width, [px].
        problem: Difference of the last message that was refused.
    """

    is_of_others = False

    def __init__(self, size: tuple[int, int]) -> None:
        self.size = size
        self.problem = ""
        self._decoders: dict[str, Decoder] = {}

    def read(self, message: Any) -> Any:
        """Return a message for ``decode``: as it is, or decoded if it is of a video."""
        form = str(find(message, ("format",)) or find(message, ("encoding",)) or "")
        if form.lower() in _VIDEO:
            return self._decode(_VIDEO[form.lower()], bytes(find(message, ("data",))))
        return message

    def decode(self, message: Any) -> RGB | None:
        """Return an RGB picture, (height, width, 3); None if it is none."""
        if isinstance(message, np.ndarray) or message is None:
            return message
        data = find(message, ("data",))
        if data is None or len(data) > _LARGEST:
            self.problem = "without a picture"
            return None
        if find(message, ("height",)) is None:
            form = "jpeg" if bytes(data[:2]) == b"\xff\xd8" else "png"
            return self._decode(form, bytes(data))
        return self._convert(message, bytes(data))

    def _decode(self, form: str, data: bytes) -> RGB | None:
        if form not in self._decoders:
            self._decoders[form] = Decoder(form, self.size[::-1])
        image = self._decoders[form].decode(data)
        if image is None:
            self.problem = f"no {form} of {self.size[1]} × {self.size[0]}"
        return None if image is None else np.asarray(image, np.uint8)

    def _convert(self, message: Any, data: bytes) -> RGB | None:
        height, width = (int(message_value(message, k)) for k in ("height", "width"))
        encoding = str(message_value(message, "encoding") or "")
        form = _FORMATS.get(encoding)
        if (height, width) != self.size or form is None:
            self.problem = f"{width} × {height}, encoding '{encoding[:20]}'"
            return None
        row = _BYTES.get(form, 1) * width
        step = int(message_value(message, "step") or row)
        if step < row or len(data) < step * height:
            self.problem = f"{len(data)} bytes for {width} × {height} '{encoding[:20]}'"
            return None
        rows = np.frombuffer(data, np.uint8, step * height).reshape(height, step)
        rows = rows[:, :row]
        if form == "gray":
            return np.repeat(rows[:, :, None], 3, axis=2)
        if form in _ORDERS:
            pixels = rows.reshape(height, width, -1)
            return np.ascontiguousarray(pixels[:, :, _ORDERS[form]])
        return self._reformat(np.ascontiguousarray(rows), form)

    def _reformat(self, rows: RGB, form: str) -> RGB:
        height, width = self.size
        frame = load_av().VideoFrame(width, height, form)
        plane = frame.planes[0]
        padded = np.zeros((height, plane.line_size), np.uint8)
        padded[:, : rows.shape[1]] = rows
        plane.update(padded.tobytes())
        image: RGB = frame.to_ndarray(format="rgb24")
        return image


def message_value(message: Any, name: str) -> Any:
    """Return a field of a message, 0 without it."""
    value = find(message, (name,))
    return 0 if value is None else value


def find_picture(message: Any) -> tuple[int, int] | None:
    """Return height and width of a message's picture, [px]; None: it has none."""
    data = find(message, ("data",))
    if data is None or isinstance(data, str) or len(data) > _LARGEST:
        return None
    height, width = find(message, ("height",)), find(message, ("width",))
    if height is not None and width is not None:
        encoding = str(message_value(message, "encoding") or "")
        is_known = encoding in _FORMATS and height > 0 and width > 0
        return (int(height), int(width)) if is_known else None
    form = str(message_value(message, "format") or "").lower()
    if not form or "compresseddepth" in form:
        return None
    return find_coded_size(bytes(data), _VIDEO.get(form, ""))
