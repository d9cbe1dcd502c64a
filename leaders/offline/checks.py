"""Removal of bad rows, counted by kind.

References:
    ``requirements.md`` 0.6 and A24, ``safety.md`` A5 and A6.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from paprle.contracts.kit.continuity import (
    HAND_SPEED,
    HAND_TURN,
    find_joint_jumps,
    find_joint_speeds,
    find_turn_jumps,
    unwrap,
)
from paprle.contracts.types import RobotInfo, Vec
from paprle.leaders.offline.track import Rows

_SHORTEST_STEP = 0.01  # [s] chosen: bunched stamps of one frame are no jump
SHORTEST_STRETCH = 0.2  # [s] chosen: a motion between two jumps lasts longer
_NORM_MIN, _NORM_MAX = 0.9, 1.1  # spec: safety.md A6
_NORM_EXACT = 1e-3  # chosen: what four printed decimals do to a unit quaternion
_LARGEST = 1e6  # [m] or [rad] chosen: beyond it a number is garbage
_LAST_STAMP = 1e12  # [s] chosen: Unix time in [s] passes, in [ms] or [ns] it does not

MOST_ROWS, MOST_TIME = 0.2, 0.1  # chosen: more is another motion
_DUPLICATES = "duplicate stamps"

Mask = npt.NDArray[np.bool_]


def clean(
    rows: Rows, max_gap: float, robot: RobotInfo | None = None
) -> tuple[Rows, Mask, Counter[str]]:
    """Return playable rows, breaks behind rows, (n−1,), and counts.

    ``max_gap`` is the longest bridged time between rows, [s].
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
    joints = _Joints(rows, robot)
    judge = _Judge(joints, max_gap)
    rows = judge.drop_outliers(joints.unwrap(rows, counts), counts)
    rows = joints.unwrap(rows, counts)  # an outlier may have stood where it turned
    gaps, jumps = judge.find_breaks(rows)
    counts[f"gaps above {max_gap:g} s"] += int(gaps.sum())
    for what, own in jumps.items():
        counts[what] += int((own & ~gaps).sum())
    return rows, judge.join(gaps, jumps), counts


def find_loss(
    rows: Rows, breaks: Mask, counts: Counter[str], n_lines: int
) -> tuple[float, float]:
    """Return the lost shares of a file's rows and time."""
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


def find_own_joints(names: Sequence[str], robot: RobotInfo | None) -> list[int]:
    """Return the robot's joints by index; all if none matches."""
    own = () if robot is None else robot.joint_names
    known = [i for i, name in enumerate(names) if name in own]
    return known or list(range(len(names)))


class _Joints:
    def __init__(self, rows: Rows, robot: RobotInfo | None) -> None:
        self._index = find_own_joints(rows.joint_names, robot)
        self.names = [rows.joint_names[i] for i in self._index]
        self._speeds = find_joint_speeds(self.names, robot)

    def unwrap(self, rows: Rows, counts: Counter[str]) -> Rows:
        """Return rows without steps of a turn, counted by joint."""
        if rows.q is None or len(rows.t) < 2:
            return rows
        q = rows.q.copy()
        whole, turns = unwrap(q[:, self._index], _find_steps(rows.t), self._speeds)
        q[:, self._index] = whole
        for name, n in zip(self.names, turns.tolist(), strict=True):
            if n:
                counts[f"steps of a turn unwrapped in joint '{name}'"] += n
        return replace(rows, q=q)

    def find_jumps(self, q: Vec, dt: Vec) -> Mask:
        """Return jumps before the next row, (n−1,)."""
        return find_joint_jumps(q[:, self._index], dt, self._speeds)


class _Judge:
    def __init__(self, joints: _Joints, max_gap: float) -> None:
        self._max_gap, self._joints = max_gap, joints

    def find_breaks(self, rows: Rows) -> tuple[Mask, dict[str, Mask]]:
        """Return gaps, and jumps by kind, (n−1,)."""
        dt, jumps = _find_steps(rows.t), dict[str, Mask]()
        if rows.p is not None:
            distance = np.linalg.norm(np.diff(rows.p, axis=0), axis=1)
            jumps[f"jumps above {HAND_SPEED:g} m/s"] = distance > HAND_SPEED * dt
        if rows.quat_xyzw is not None:
            what = f"jumps in orientation above {HAND_TURN:g} rad/s"
            jumps[what] = find_turn_jumps(rows.quat_xyzw, dt)
        if rows.q is not None:
            jumps["jumps in joints"] = self._joints.find_jumps(rows.q, dt)
        return np.diff(rows.t) > self._max_gap, jumps

    def join(self, gaps: Mask, jumps: Mapping[str, Mask]) -> Mask:
        return np.asarray(np.any([gaps, *jumps.values()], axis=0))

    def drop_outliers(self, rows: Rows, counts: Counter[str]) -> Rows:
        """Return rows without isolated ones and strays."""
        while len(rows.t):
            breaks = self.join(*self.find_breaks(rows))
            ends = np.concatenate([[True], breaks, [True]])
            is_lonely = ends[:-1] & ends[1:]
            if not is_lonely.any():
                is_lonely = self._find_strays(rows)
            if not is_lonely.any():
                break
            rows = _drop(rows, ~is_lonely, counts, "rows far from all others")
        return rows

    def _find_strays(self, rows: Rows) -> Mask:
        is_stray = np.zeros(len(rows.t), dtype=bool)
        gaps, jumps = self.find_breaks(rows)
        breaks = np.flatnonzero(self.join(gaps, jumps))
        for before, after in pairwise(breaks.tolist()):
            lasts = float(rows.t[after] - rows.t[before + 1])
            if lasts < SHORTEST_STRETCH and not gaps[before] and not gaps[after]:
                is_stray[before + 1 : after + 1] = True
        return is_stray


def _find_steps(t: Vec) -> Vec:
    return np.maximum(np.diff(t), _SHORTEST_STEP)
