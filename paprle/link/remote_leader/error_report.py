"""Errors that the operator's host measures, as sent to the robot's host.

The recording is at the robot, and so may be a page; the distances of hand, robot and
picture are known only to the operator's host
(``paprle.link.remote_leader.discrepancy``). It sends the newest rows some times a
second, each more than once, so that a lost datagram costs nothing; the robot's host
finds by their numbers which never arrived.
"""

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
    """Distances of hand, robot and pictures at one instant; NaN: not known.

    Attributes:
        t_ns: The instant, in time of the host that has it, [ns].
        hand: Which of the leader's limbs.
        user_robot: Hand to robot, [m].
        user_shown: Hand to the picture of the robot as confirmed, [m].
        shown_robot: That picture to the robot, [m].
        user_predicted: Hand to the picture as predicted, [m].
        predicted_robot: That picture to the robot, [m].
        latency: Motion to motion: from a capture until the robot was shown that had
            it, [s].
        user_velocity: Hand to a picture extrapolated by its velocity, [m]; it is drawn
            nowhere, and serves for comparison.
        velocity_robot: That picture to the robot, [m].
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
    """Counts of each stream between the two hosts: sent, received and lost (T18).

    Attributes:
        captures_sent: Captures that the operator's host sent.
        captures_lost: How many of them arrived in no datagram.
        words_sent: States of the session that the robot's host sent.
        words_got: How many of them arrived.
    """

    captures_sent: int = 0
    captures_lost: int = 0
    words_sent: int = 0
    words_got: int = 0

    def describe(self) -> dict[str, dict[str, int]]:
        """Return them by stream: how many were sent, and how many never came."""
        words_lost = max(0, self.words_sent - self.words_got)
        return {
            "captures": {"sent": self.captures_sent, "lost": self.captures_lost},
            "robot's words": {"sent": self.words_sent, "lost": words_lost},
        }


def pack_errors(
    number: int, rows: Collection[ErrorRow], counts: StreamCounts, now_ns: int
) -> bytes:
    """Return the payload of a datagram.

    Args:
        number: Of the newest row; each row is one more than the one before.
        rows: The newest, the newest last, ``MOST_ROWS`` at most.
        counts: Of the streams.
        now_ns: When it is sent, in the time of the rows, [ns].
    """
    parts = [_HEAD.pack(number % 2**32, len(rows), *(n % 2**32 for n in counts))]
    for row in rows:
        age_us = min(max(0, now_ns - row.t_ns) // _US, _OLDEST_US)
        parts.append(_ROW.pack(age_us, row.hand, *map(_to_tenths, row[2:])))
    return b"".join(parts)


class ErrorsGuard:
    """Keeps rows that come, each once, in this host's time.

    Attributes:
        n_missing: Rows that never came.
    """

    def __init__(self) -> None:
        self.n_missing = 0
        self._rows: deque[ErrorRow] = deque(maxlen=_WAITING)
        self._counts = StreamCounts()
        self.forget()

    def permit(self, now_ns: int) -> None:
        """There is nothing to permit."""

    def forget(self) -> None:
        """The operator's host left: the next one counts from its first row."""
        self._newest = 0

    def accept(self, end: Hearing, packet: Packet, now_ns: int) -> Record | None:
        """Keep the rows of a datagram that have not come before."""
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
        """Return what came since the last call, as an event has it; None: nothing.

        ``rows`` have a stamp, a hand, five errors [mm], a latency [ms] and two errors
        more [mm], as ``ErrorRow``; None: not known.
        """
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
    """Return a row as JSON has it, in [mm] and [ms]; None: not known."""
    return [row.t_ns, row.hand, *(_to_milli(value) for value in row[2:])]


def describe_errors(
    find: Callable[[str], float | None], streams: Mapping[str, Mapping[str, int]]
) -> dict[str, str]:
    """Describe for a page the measured distances, and what was lost on the way.

    Args:
        find: Returns the newest value of an error of ``ErrorRow`` [mm] or of its
            latency [ms]; None: not measured.
        streams: ``StreamCounts.describe``.

    Returns:
        Values with their units, by label; unmeasured ones are left out.
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
    """Return it in tenths of a thousandth; what is beyond stays the largest."""
    if not math.isfinite(value):
        return _UNKNOWN
    return min(max(0, round(value / _TENTH)), _UNKNOWN - 1)


def _unpack(
    data: bytes, sent_ns: int
) -> tuple[int, list[ErrorRow], StreamCounts] | None:
    """Return number of the newest, rows in the sender's time, counts; None: not so."""
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
