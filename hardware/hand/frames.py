"""Hands in one image, as bytes between processes.

Landmarks as MediaPipe's: 0 wrist, 1-4 thumb from its root, 5-8 index, 9-12 middle,
13-16 ring, 17-20 little finger. Axes: x right, y down, z away.
"""

from __future__ import annotations

import zlib
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

N_LANDMARKS = 21
N_HANDS = 2
Label = Literal["left", "right"]
Array = npt.NDArray[np.float64]

_LABELS: tuple[Label, Label] = ("left", "right")
_MAGIC = 0x444E4148  # "HAND"
_HAND = np.dtype([
    ("is_there", "u1"),
    ("label", "u1"),
    ("uv", "<f4", (N_LANDMARKS, 2)),
    ("depth", "<f4", (N_LANDMARKS,)),
    ("shape", "<f4", (N_LANDMARKS, 3)),
])  # fmt: skip
RECORD = np.dtype([
    ("magic", "<u4"),
    ("seq", "<u4"),
    ("stamp_ns", "<i8"),
    ("focal", "<f4", (2,)),
    ("centre", "<f4", (2,)),
    ("hands", _HAND, (N_HANDS,)),
    ("crc", "<u4"),
])  # fmt: skip
"""One image's hands; ``crc`` is of all bytes before it."""


class Hand(NamedTuple):
    """One hand.

    Attributes:
        uv: Landmarks in the image, shape (21, 2), [px].
        depth: Median along z around each, shape (21,), [m], or NaN.
        shape: Estimated landmarks about the middle, shape (21, 3), [m].
    """

    label: Label
    uv: Array
    depth: Array
    shape: Array


class HandFrame(NamedTuple):
    """Hands in one image.

    Attributes:
        stamp_ns: Monotonic, [ns].
        focal: x and y, [px].
        centre: Principal point, [px].
    """

    stamp_ns: int
    seq: int
    focal: tuple[float, float]
    centre: tuple[float, float]
    hands: tuple[Hand, ...]

    def find(self, label: Label) -> Hand | None:
        """Return a hand by its label, or None."""
        return next((hand for hand in self.hands if hand.label == label), None)


def pack_frame(frame: HandFrame) -> bytes:
    """Return a frame as a ``RECORD``."""
    record = np.zeros((), RECORD)
    record["magic"], record["seq"] = _MAGIC, frame.seq % (1 << 32)
    record["stamp_ns"] = frame.stamp_ns
    record["focal"], record["centre"] = frame.focal, frame.centre
    for row, hand in zip(record["hands"], frame.hands, strict=False):
        row["is_there"], row["label"] = 1, _LABELS.index(hand.label)
        row["uv"], row["depth"], row["shape"] = hand.uv, hand.depth, hand.shape
    record["crc"] = _compute_crc(record.tobytes())
    return record.tobytes()


def unpack_frame(record: Any) -> HandFrame:
    """Return a ``RECORD``'s frame.

    Raises:
        ValueError: Damaged or impossible.
    """
    if record["magic"] != _MAGIC or record["crc"] != _compute_crc(record.tobytes()):
        raise ValueError("expected a record of hands, got other or damaged bytes")
    fx, fy = (float(f) for f in record["focal"])
    cx, cy = (float(c) for c in record["centre"])
    if not (0.0 < fx < np.inf and 0.0 < fy < np.inf and np.isfinite([cx, cy]).all()):
        raise ValueError(f"expected a camera's focal lengths, got {fx:g}, {fy:g}")
    hands = [_unpack_hand(row) for row in record["hands"] if row["is_there"]]
    return HandFrame(
        int(record["stamp_ns"]),
        int(record["seq"]),
        (fx, fy),
        (cx, cy),
        tuple(hand for hand in hands if hand is not None),
    )


class FrameStream:
    """Decoder of frames in partial bytes."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self.n_refused = 0

    def feed(self, data: bytes) -> list[HandFrame]:
        """Return the frames completed by these bytes."""
        self._buffer += data
        found: list[HandFrame] = []
        head, size = _MAGIC.to_bytes(4, "little"), RECORD.itemsize
        while (at := self._buffer.find(head)) >= 0:
            del self._buffer[:at]
            if len(self._buffer) < size:
                return found
            record = np.frombuffer(bytes(self._buffer[:size]), RECORD)[0]
            try:
                found.append(unpack_frame(record))
                used = size
            except ValueError:
                self.n_refused += 1
                used = len(head)
            del self._buffer[:used]
        del self._buffer[: -len(head)]
        return found


def _unpack_hand(row: Any) -> Hand | None:
    uv, shape = row["uv"].astype(float), row["shape"].astype(float)
    if row["label"] >= len(_LABELS) or not (
        np.isfinite(uv).all() and np.isfinite(shape).all()
    ):
        return None
    depth = row["depth"].astype(float)
    depth[~(depth > 0.0) | ~np.isfinite(depth)] = np.nan
    return Hand(_LABELS[int(row["label"])], uv, depth, shape)


def _compute_crc(record: bytes) -> int:
    return zlib.crc32(record[: RECORD.itemsize - 4])
