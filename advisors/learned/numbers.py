"""Numbers from cameras besides colours: each pixel's distance and class."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from paprle.contracts.images import EXACT, CameraInfo, Frame


def read_numbers(name: str, frame: Frame, info: CameraInfo) -> dict[str, Any]:
    """Return an image's numbers, shape (1, height, width), by what they are called.

    A camera of numbers alone has its own name; depth beside pictures is ``NAME.depth``.

    Args:
        name: Of the camera.
        frame: What it gave, of which ``CameraInfo.find_fault`` says nothing.
        info: What its images are.

    Returns:
        Depth, float32, [m], 0 where none is known; ids, int32, 0: nothing.
    """
    if info.encoding == "ids16":
        return {name: _read(frame.data, info).astype(np.int32)}
    if info.encoding in EXACT:
        return {name: _measure(frame.data, info)}
    return {f"{name}.depth": _measure(frame.depth, info)} if frame.depth else {}


def _measure(data: bytes, info: CameraInfo) -> npt.NDArray[np.float32]:
    return _read(data, info) * np.float32(info.depth_unit)


def _read(data: bytes, info: CameraInfo) -> npt.NDArray[np.uint16]:
    return np.frombuffer(data, "<u2").reshape(1, info.height, info.width)
