"""Messages as records of an MCAP chunk, many at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from mcap.opcode import Opcode

from paprle.recording.messages.channels import Channel, Rows

_NAMES = ["opcode", "length", "id", "sequence", "log", "publish", "data"]
_OFFSETS = [0, 1, 9, 11, 15, 23, 31]  # spec: mcap.dev, opcode, length, Message
_HEAD = 22  # spec: mcap.dev: of a Message before its data

Stamps = npt.NDArray[Any]


def frame_rows(
    channel_id: int, rows: Rows, log: Stamps, publish: Stamps, sequence: Stamps
) -> Rows:
    """Return messages of one size as records of a chunk.

    ``log`` and ``publish`` are wall time [ns]; these and ``sequence`` have shape (n,).
    """
    size = rows.dtype.itemsize
    formats = ["u1", "<u8", "<u2", "<u4", "<u8", "<u8", f"V{size}"]
    dtype = np.dtype({"names": _NAMES, "formats": formats, "offsets": _OFFSETS})
    out = np.zeros(len(rows), dtype)
    out["opcode"], out["length"], out["id"] = Opcode.MESSAGE, _HEAD + size, channel_id
    out["sequence"] = sequence
    out["log"], out["publish"] = np.maximum(log, 0), np.maximum(publish, 0)
    out["data"] = rows.view(f"V{size}")
    return out


def frame_records(
    channel_id: int, channel: Channel, records: Rows, first: int, offset_ns: int
) -> Rows:
    """Return a channel's encoded records as records of a chunk.

    ``first`` is a row number; ``offset_ns`` is wall minus monotonic time.
    """
    rows, told = channel.encode(records)
    log = records["stamp_ns"][told] + offset_ns
    publish = channel.stamps(records)[told] + offset_ns
    return frame_rows(channel_id, rows, log, publish, first + told)


def frame_one(channel_id: int, data: bytes, wall_ns: int, row: int) -> Rows:
    """Return one message as a record."""
    stamp = np.array([wall_ns])
    rows = np.frombuffer(data, f"V{len(data)}")
    return frame_rows(channel_id, rows, stamp, stamp, np.array([row]))
