"""Errors measured by the operator's host, in datagrams."""

from __future__ import annotations

import math
import struct
from collections import deque
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from paprle.ipc.records import Record
from paprle.link.guards import Hearing
from paprle.link.packets import Packet

MOST_ROWS = 50
"""Most rows in a datagram: 1.1 kB, which no network cuts in two."""
_WAITING = 120  # chosen: a second of two hands, for a process that looks at 100 Hz
_HEAD = struct.Struct("<IB4I")  # number of the newest row, how many, counts
_ROW = struct.Struct("<IB8H")  # age when sent, in microseconds; hand; the rest
_TENTH = 1e-4  # [m] and [s] of a unit on the way
_UNKNOWN = 65535
_US = 1000  # [ns]
_OLDEST_US = 2**32 - 1
_MILLI = 1e3
_SHOWN = {
    "user_robot": ("hand to robot", "mm"),
    "user_shown": ("hand to picture, as confirmed", "mm"),
    "shown_robot": ("picture to robot, as confirmed", "mm"),
    "user_predicted": ("hand to picture, as predicted", "mm"),
    "predicted_robot": ("picture to robot, as predicted", "mm"),
    "latency": ("motion to motion", "ms"),
}
_DIGITS = 1  # of millimetres and milliseconds
_MOST_AHEAD = 1_000_000  # spec: safety.md A3


class ErrorRow(NamedTuple):
    """Distances, [m], at a local time; NaN: unknown.

    Attributes:
        latency: From capture to the display of the robot with it, [s].
    """

    t_ns: int
    hand: int
    user_robot: float = math.nan
    user_shown: float = math.nan
    shown_robot: float = math.nan
    user_predicted: float = math.nan
    predicted_robot: float = math.nan
    latency: float = math.nan
    user_velocity: float = math.nan
    velocity_robot: float = math.nan


class StreamCounts(NamedTuple):
    """Counts of the streams between two hosts (T18)."""

    captures_sent: int = 0
    captures_lost: int = 0
    words_sent: int = 0
    words_got: int = 0

    def describe(self) -> dict[str, dict[str, int]]:
        """Return sent and lost counts by stream."""
        words_lost = max(0, self.words_sent - self.words_got)
        return {
            "captures": {"sent": self.captures_sent, "lost": self.captures_lost},
            "robot's words": {"sent": self.words_sent, "lost": words_lost},
        }


def pack_errors(
    number: int, rows: Collection[ErrorRow], counts: StreamCounts, now_ns: int
) -> bytes:
    """Return a payload of consecutive rows, ``number`` the newest."""
    parts = [_HEAD.pack(number % 2**32, len(rows), *(n % 2**32 for n in counts))]
    for row in rows:
        age_us = min(max(0, now_ns - row.t_ns) // _US, _OLDEST_US)
        parts.append(_ROW.pack(age_us, row.hand, *map(_to_tenths, row[2:])))
    return b"".join(parts)


class ErrorsGuard:
    """Queue of received rows in local time; ``n_missing`` never came."""

    def __init__(self) -> None:
        self.n_missing = 0
        self._rows: deque[ErrorRow] = deque(maxlen=_WAITING)
        self._counts = StreamCounts()
        self.forget()

    def permit(self, now_ns: int) -> None:
        """Do nothing."""

    def forget(self) -> None:
        """Restart the numbers for another session."""
        self._newest = 0

    def accept(self, end: Hearing, packet: Packet, now_ns: int) -> Record | None:
        """Keep the new rows of a datagram."""
        found = _unpack(packet.payload, packet.stamp_ns)
        ahead = 0 if found is None else found[0] - self._newest
        if found is None or ahead > _MOST_AHEAD:
            end.refused["malformed"] += 1
            return None
        _, rows, self._counts = found
        new = rows[max(0, len(rows) - ahead) :] if ahead > 0 else []
        self.n_missing += max(0, ahead - len(new))
        self._newest += max(0, ahead)
        self._rows += [
            row._replace(t_ns=min(end.clock.to_local(row.t_ns), now_ns)) for row in new
        ]
        return None

    def take_told(self) -> dict[str, Any] | None:
        """Return new rows as an event, if any."""
        if not self._rows:
            return None
        rows = [list_values(row) for row in self._rows]
        self._rows.clear()
        return {
            "rows": rows,
            "missing": self.n_missing,
            "streams": self._counts.describe(),
        }


def list_values(row: ErrorRow) -> list[float | int | None]:
    """Return a row as JSON, in [mm] and [ms]; None: unknown."""
    return [row.t_ns, row.hand, *(_to_milli(value) for value in row[2:])]


def describe_errors(
    find: Callable[[str], float | None], streams: Mapping[str, Mapping[str, int]]
) -> dict[str, str]:
    """Return distances and losses for a page, with units, by label.

    ``find`` returns [mm] or [ms] by name; None if unknown.
    """
    found = ((words, unit, find(name)) for name, (words, unit) in _SHOWN.items())
    said = {words: f"{v:.0f} {unit}" for words, unit, v in found if v is not None}
    return said | {
        f"{name} lost": f"{one['lost']} of {one['sent']}"
        + (f", {100.0 * one['lost'] / one['sent']:.1f} %" if one["sent"] else "")
        for name, one in streams.items()
    }


def _to_milli(value: float) -> float | None:
    return round(_MILLI * value, _DIGITS) if math.isfinite(value) else None


def _to_tenths(value: float) -> int:
    if not math.isfinite(value):
        return _UNKNOWN
    return min(max(0, round(value / _TENTH)), _UNKNOWN - 1)


def _unpack(
    data: bytes, sent_ns: int
) -> tuple[int, list[ErrorRow], StreamCounts] | None:
    if len(data) < _HEAD.size:
        return None
    newest, n, *counts = _HEAD.unpack_from(data)
    is_whole = len(data) == _HEAD.size + n * _ROW.size
    if not is_whole or n > min(MOST_ROWS, newest):
        return None
    rows = []
    for at in range(_HEAD.size, len(data), _ROW.size):
        age_us, hand, *tenths = _ROW.unpack_from(data, at)
        known = (math.nan if n == _UNKNOWN else n * _TENTH for n in tenths)
        rows.append(ErrorRow(sent_ns - age_us * _US, hand, *known))
    return newest, rows, StreamCounts(*counts)
