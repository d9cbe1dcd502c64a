"""Records from cameras to the recorder."""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from paprle.contracts.images import CameraInfo

RECORDING_DTYPE = np.dtype([("episode", "u4"), ("is_on", "?")], align=True)
"""The recorder's record for cameras: the episode that it writes, if any."""

_LEAST_ROOM = 4 << 20  # [bytes] chosen: 8 s of 4 Mbit/s; a recorder waits for no more
_N_IMAGES = 4  # chosen: raw images that find room where those do not compress
_HEAD = struct.Struct("<q?I")


class PictureKind(IntEnum):
    """Kind of a camera's record."""

    EVENT = 0  # JSON object, utf-8
    PICTURE = 1
    DEPTH = 2


class CodedPicture(NamedTuple):
    """Coded picture, exposed at monotonic ``stamp_ns``.

    Attributes:
        is_key: Decodable without earlier ones.
    """

    stamp_ns: int
    is_key: bool
    data: bytes
    n_dropped: int = 0


def pack_coded(coded: CodedPicture) -> bytes:
    """Return the record of a coded picture."""
    return _HEAD.pack(coded.stamp_ns, coded.is_key, coded.n_dropped) + coded.data


def unpack_coded(payload: bytes) -> CodedPicture | None:
    """Return a record's coded picture; None if invalid."""
    if len(payload) <= _HEAD.size:
        return None
    stamp_ns, is_key, n_dropped = _HEAD.unpack_from(payload)
    return CodedPicture(stamp_ns, is_key, payload[_HEAD.size :], n_dropped)


def find_room(info: CameraInfo) -> int:
    """Return the size of a camera's ring, [bytes]."""
    return max(_LEAST_ROOM, _N_IMAGES * (info.max_bytes + info.depth_bytes))
