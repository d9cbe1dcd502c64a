"""Traces of a network, as CSV; one row holds until the next.

    time,direction,delay,jitter,loss,burst,reorder,rate
    0,both,0.05,0.01,0.01,1,0.005,5e6

``time`` [s]; ``direction`` up, down or both; ``delay`` [s] one way; ``jitter`` [s],
mean of a uniform wait; ``loss`` a share, in runs of mean ``burst``; ``reorder`` a
share; ``rate`` [bit/s], 0: no limit. Missing columns are 0, ``burst`` 1. The trace
repeats; # begins a comment.
"""

from __future__ import annotations

import csv
import math
from bisect import bisect_right
from pathlib import Path
from typing import NamedTuple

PROFILES = Path(__file__).with_name("profiles")
DIRECTIONS = "up", "down"
_LONGEST = 10.0  # [s] chosen: a delay beyond it is a mistake
_COLUMNS = "time", "direction", "delay", "jitter", "loss", "burst", "reorder", "rate"


class TraceError(ValueError):
    """Invalid trace."""


class Row(NamedTuple):
    """State of one direction; see the module."""

    time: float
    delay: float = 0.0
    jitter: float = 0.0
    loss: float = 0.0
    burst: float = 1.0
    reorder: float = 0.0
    rate: float = 0.0


class Trace:
    """State over time.

    Attributes:
        rows: In order; the first at 0.
        length: Period, [s]; infinite with one row.
    """

    def __init__(self, rows: list[Row]) -> None:
        self.rows = sorted(rows)
        self._times = [row.time for row in self.rows]
        n = len(self.rows)
        self.length = self._times[-1] * n / (n - 1) if n > 1 else math.inf

    def at(self, t: float) -> Row:
        """Return the state after the begin, [s]."""
        t = t % self.length if math.isfinite(self.length) else 0.0
        return self.rows[max(bisect_right(self._times, t) - 1, 0)]


def list_profiles() -> list[str]:
    """Return the project's trace names."""
    return sorted(path.stem for path in PROFILES.glob("*.csv"))


def load_traces(name: str) -> dict[str, Trace]:
    """Return a CSV's or profile's traces by direction.

    Raises:
        TraceError: Unreadable or invalid.
    """
    path = PROFILES / f"{name}.csv" if name in list_profiles() else Path(name)
    try:
        lines = path.read_text().splitlines()
    except OSError as err:
        raise TraceError(
            f"expected a CSV or one of {', '.join(list_profiles())}, got '{name}' "
            f"({err.strerror})"
        ) from err
    except UnicodeDecodeError as err:
        raise TraceError(f"expected text, got '{name}' ({err.reason})") from err
    found: dict[str, list[Row]] = {direction: [] for direction in DIRECTIONS}
    reader = csv.DictReader(line for line in lines if not line.startswith("#"))
    unknown = set(reader.fieldnames or ()) - set(_COLUMNS)
    if unknown or "delay" not in (reader.fieldnames or ()):
        got = ", ".join(reader.fieldnames or ()) or "no line"
        raise TraceError(f"{path}: expected columns {', '.join(_COLUMNS)}, got {got}")
    for line in reader:
        where = f"{path}: row {reader.line_num}"
        which = line.pop("direction", None) or "both"
        if which not in {*DIRECTIONS, "both"}:
            raise TraceError(f"{where}: expected up, down or both, got '{which}'")
        row = _read_row(line, where)
        for direction in DIRECTIONS if which == "both" else (which,):
            found[direction].append(row)
    if not all(rows and min(rows).time == 0.0 for rows in found.values()):
        raise TraceError(f"{path}: expected a row at time 0 for each direction")
    return {direction: Trace(rows) for direction, rows in found.items()}


def _read_row(line: dict[str, str], where: str) -> Row:
    try:
        values = {key: float(text) for key, text in line.items() if text}
    except (TypeError, ValueError) as err:
        raise TraceError(f"{where}: expected numbers, got {err}") from err
    row = Row(**{"time": 0.0, **values})
    is_share = 0.0 <= row.loss <= 1.0 and 0.0 <= row.reorder <= 1.0
    is_delay = 0.0 <= row.delay <= _LONGEST and 0.0 <= row.jitter <= _LONGEST
    is_time = 0.0 <= row.time < math.inf and 0.0 <= row.rate < math.inf
    if not (is_share and is_delay and is_time and 1.0 <= row.burst < math.inf):
        raise TraceError(
            f"{where}: expected times and rates of 0 or more, shares of 0 to 1, delays "
            f"of at most {_LONGEST:g} s and bursts of 1 or more, got {dict(line)}"
        )
    return row
