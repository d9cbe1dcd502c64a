"""The treatment of bad rows: each kind has one, and each is counted.

References:
    ``requirements.md`` 0.6 and A24, ``safety.md`` A5 and A6.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from leaders.offline.track import Rows
from paprle.contracts.types import Vec

HAND_SPEED = 3.0  # [m/s] spec: safety.md A5
_SHORTEST_STEP = 0.01  # [s] chosen: bunched stamps of one frame are no jump
_NORM_MIN, _NORM_MAX = 0.9, 1.1  # spec: safety.md A6
_NORM_EXACT = 1e-3  # chosen: what four printed decimals do to a unit quaternion
_LARGEST = 1e6  # [m] or [rad] chosen: beyond it a number is garbage
_LAST_STAMP = 1e12  # [s] chosen: Unix time in [s] passes, in [ms] or [ns] it does not

MOST_ROWS, MOST_TIME = 0.2, 0.1  # chosen: more is another motion
_DUPLICATES = "duplicate stamps"

Mask = npt.NDArray[np.bool_]


def clean(rows: Rows, max_gap: float) -> tuple[Rows, Mask, Counter[str]]:
    """Drop what cannot be played and find where nothing is known.

    Args:
        rows: Rows as read.
        max_gap: Longest time between rows that is bridged, [s].

    Returns:
        Rows with strictly increasing stamps, finite numbers and unit quaternions;
        where a gap or a jump follows a row, shape (n−1,); what was done, counted.
    """
    counts: Counter[str] = Counter()
    rows = _drop(rows, _is_finite(rows), counts, "rows with NaN or absurd numbers")
    if rows.quat_xyzw is not None:
        rows = _normalise(rows, rows.quat_xyzw, counts)
    if rows.opening is not None:
        clipped = np.clip(rows.opening, 0, 1)
        counts["gripper openings clipped to 0 … 1"] += int(
            (clipped != rows.opening).sum()
        )
        rows = replace(rows, opening=clipped)
    if len(rows.t):
        is_new = np.concatenate([[True], np.diff(rows.t) != 0])
        rows = _drop(rows, is_new, counts, _DUPLICATES)
        rows = _drop(
            rows, _is_in_order(rows.t), counts, "rows with stamps out of order"
        )
    rows = _drop_lonely(rows, max_gap, counts)
    gaps, jumps = _breaks(rows, max_gap)
    counts[f"gaps above {max_gap:g} s"] += int(gaps.sum())
    counts[f"jumps above {HAND_SPEED:g} m/s"] += int((jumps & ~gaps).sum())
    return rows, gaps | jumps, counts


def find_loss(
    rows: Rows, breaks: Mask, counts: Counter[str], n_lines: int
) -> tuple[float, float]:
    """Return which share of a file's rows and of its time will not be played.

    A stamp that comes again is no loss: the row before says the same.

    Args:
        rows: Rows as ``clean`` returned them.
        breaks: Where nothing is known behind a row.
        counts: What was done to lines and rows.
        n_lines: Lines of data in the file.
    """
    n_lost = sum(n for what, n in counts.items() if what.endswith("dropped"))
    n_lost -= counts[f"{_DUPLICATES} dropped"]
    lost = float(np.diff(rows.t)[breaks].sum())
    return n_lost / max(n_lines, 1), lost / float(rows.t[-1] - rows.t[0])


def _drop(rows: Rows, keep: Mask, counts: Counter[str], what: str) -> Rows:
    counts[f"{what} dropped"] += int((~keep).sum())
    return rows.take(keep)


def _is_finite(rows: Rows) -> Mask:
    # Written so that NaN fails it.
    numbers = np.all(np.abs(rows.numbers()) <= _LARGEST, axis=1)
    return np.asarray(numbers & (np.abs(rows.t) <= _LAST_STAMP))


def _normalise(rows: Rows, quat_xyzw: Vec, counts: Counter[str]) -> Rows:
    norms = np.linalg.norm(quat_xyzw, axis=1)
    is_near = (norms >= _NORM_MIN) & (norms <= _NORM_MAX)
    counts["quaternions normalised"] += int(
        (is_near & (np.abs(norms - 1) > _NORM_EXACT)).sum()
    )
    units = quat_xyzw / np.where(is_near, norms, 1.0)[:, None]
    rows = replace(rows, quat_xyzw=units)
    return _drop(rows, is_near, counts, "rows whose quaternion is far from unit")


def _is_in_order(t: Vec) -> Mask:
    """Return the most rows whose stamps increase: one wild stamp costs one row."""
    if (np.diff(t) > 0).all():
        return np.ones(len(t), dtype=bool)
    ends: list[float] = []  # smallest last stamp of a series of each length
    rows_at: list[int] = []  # the row it stands in
    before = np.full(len(t), -1)
    for i, stamp in enumerate(t.tolist()):
        length = bisect_left(ends, stamp)
        before[i] = rows_at[length - 1] if length else -1
        ends[length : length + 1] = [stamp]
        rows_at[length : length + 1] = [i]
    keep = np.zeros(len(t), dtype=bool)
    i = rows_at[-1]
    while i >= 0:
        keep[i] = True
        i = int(before[i])
    return keep


def _breaks(rows: Rows, max_gap: float) -> tuple[Mask, Mask]:
    """Return where a gap and where a jump follows a row, shapes (n−1,)."""
    dt = np.diff(rows.t)
    jumps = np.zeros(len(dt), dtype=bool)
    if rows.p is not None:
        distance = np.linalg.norm(np.diff(rows.p, axis=0), axis=1)
        jumps = distance > HAND_SPEED * np.maximum(dt, _SHORTEST_STEP)
    return dt > max_gap, jumps


def _drop_lonely(rows: Rows, max_gap: float, counts: Counter[str]) -> Rows:
    """Drop rows without motion on either side: outliers, and rows within gaps."""
    while len(rows.t):
        gaps, jumps = _breaks(rows, max_gap)
        breaks = np.concatenate([[True], gaps | jumps, [True]])
        is_lonely = breaks[:-1] & breaks[1:]
        if not is_lonely.any():
            break
        rows = _drop(rows, ~is_lonely, counts, "rows far from all others")
    return rows
