"""Numeric camera images: depth and class by pixel."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from paprle.contracts.images import EXACT, CameraInfo, Frame


def read_numbers(name: str, frame: Frame, info: CameraInfo) -> dict[str, Any]:
    """Return an image's numbers by name, (1, height, width).

    Depth is float32, [m], 0: unknown, named ``NAME.depth`` beside pictures. IDs are
    int32, 0: none.
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
