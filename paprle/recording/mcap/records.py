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
    """Return messages of one size as records of a chunk, one row each.

    Args:
        channel_id: Their channel.
        rows: Their bytes, one item each.
        log: When they were recorded, shape (n,), wall time [ns].
        publish: Their own stamps, shape (n,), wall time [ns].
        sequence: Their row numbers, shape (n,).
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
    """Return the encoding of a channel's records, as records of a chunk.

    Args:
        channel_id: The channel's number in the file.
        channel: The encoder of the records.
        records: Records that follow each other.
        first: Row number of the first.
        offset_ns: Wall time minus monotonic time, [ns].
    """
    rows, told = channel.encode(records)
    log = records["stamp_ns"][told] + offset_ns
    publish = channel.stamps(records)[told] + offset_ns
    return frame_rows(channel_id, rows, log, publish, first + told)


def frame_one(channel_id: int, data: bytes, wall_ns: int, row: int) -> Rows:
    """Return one message as a record of a chunk."""
    stamp = np.array([wall_ns])
    rows = np.frombuffer(data, f"V{len(data)}")
    return frame_rows(channel_id, rows, stamp, stamp, np.array([row]))
