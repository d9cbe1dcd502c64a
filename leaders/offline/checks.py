"""Removal of bad rows, counted by kind.

References:
    ``requirements.md`` 0.6 and A24, ``safety.md`` A5 and A6.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from paprle.contracts.kit.continuity import (
    HAND_SPEED,
    HAND_TURN,
    NOISE_JOINT,
    NOISE_TURN,
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
_STILL = 1e-9  # [m] or [rad] chosen: a sender that repeats its last row
_ZERO_JOINT, _ZERO_PLACE = 0.5, 0.2  # [rad], [m] chosen: steps from or to rows of zeros
_MOST_BACK = 100  # chosen: of more foreign stretches none is compared with others
_NOISE_PLACE = 0.02  # [m] chosen: jitter of a tracked position
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
        own = q[:, self._index]
        is_far = np.abs(np.diff(own, axis=0)).max(axis=1, initial=0.0) > _ZERO_JOINT
        jumps = find_joint_jumps(own, dt, self._speeds)
        return np.asarray(jumps | (_find_zeros(own) & is_far))

    def measure(self, q: Vec, i: int, j: int) -> float:
        """Return the largest joint's way between two rows, [rad]."""
        return float(np.abs(q[i, self._index] - q[j, self._index]).max())


class _Judge:
    def __init__(self, joints: _Joints, max_gap: float) -> None:
        self._max_gap, self._joints = max_gap, joints

    def find_breaks(self, rows: Rows) -> tuple[Mask, dict[str, Mask]]:
        """Return gaps, and jumps by kind, (n−1,)."""
        dt, jumps = _find_steps(rows.t), dict[str, Mask]()
        if rows.p is not None:
            distance = np.linalg.norm(np.diff(rows.p, axis=0), axis=1)
            is_jump = distance > HAND_SPEED * dt
            is_jump |= _find_zeros(rows.p) & (distance > _ZERO_PLACE)
            jumps[f"jumps above {HAND_SPEED:g} m/s"] = is_jump
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
        """Return rows of stretches that are no part of the motion around them."""
        # between jumps: those that do not move, unless none does; else short ones; else
        # those behind which the motion goes on where it was, of two neighbours the
        # shorter
        is_stray = np.zeros(len(rows.t), dtype=bool)
        gaps, jumps = self.find_breaks(rows)
        is_jump = self.join(np.zeros_like(gaps), jumps) & ~gaps
        edges = [-1, *np.flatnonzero(gaps | is_jump).tolist(), len(rows.t) - 1]
        stretches = list(pairwise(edges))
        moves = np.abs(np.diff(rows.numbers(), axis=0)).max(axis=1) > _STILL
        n_moves = np.concatenate([[0], np.cumsum(moves)])
        still = [n_moves[before + 1] == n_moves[after] for before, after in stretches]
        for (before, after), rests in zip(stretches, still, strict=True):
            ends = [one for one in (before, after) if 0 <= one < len(is_jump)]
            is_cut = bool(ends) and all(is_jump[one] for one in ends)
            if is_cut and rests and not all(still):
                is_stray[before + 1 : after + 1] = True
        if is_stray.any():
            return is_stray
        inner = {
            k: float(rows.t[after] - rows.t[before + 1])
            for k, (before, after) in enumerate(stretches[1:-1], 1)
            if is_jump[before] and is_jump[after]
        }
        foreign = {k for k, lasts in inner.items() if lasts < SHORTEST_STRETCH}
        if not foreign:
            back = {k: inner[k] for k in inner if self._returns(rows, *stretches[k])}
            foreign = {
                k
                for k, lasts in back.items()
                if len(back) > _MOST_BACK
                or (lasts, k)
                < min((back.get(one, math.inf), one) for one in (k - 1, k + 1))
            }
        for k in foreign:
            before, after = stretches[k]
            is_stray[before + 1 : after + 1] = True
        return is_stray

    def _returns(self, rows: Rows, before: int, after: int) -> bool:
        """Return whether rows go on behind a stretch nearer than it is to either."""
        for least, measure in self._list_measures(rows):
            way = min(measure(before, before + 1), measure(after, after + 1))
            if way > least and measure(before, after + 1) < way:
                return True
        return False

    def _list_measures(
        self, rows: Rows
    ) -> Iterator[tuple[float, Callable[[int, int], float]]]:
        """Yield the way between two rows, and the least that is no noise, by kind."""
        p, quat_xyzw, q = rows.p, rows.quat_xyzw, rows.q
        if p is not None:
            yield _NOISE_PLACE, lambda i, j: float(np.linalg.norm(p[i] - p[j]))
        if quat_xyzw is not None:
            yield NOISE_TURN, lambda i, j: _measure_turn(quat_xyzw[i], quat_xyzw[j])
        if q is not None:
            yield NOISE_JOINT, lambda i, j: self._joints.measure(q, i, j)


def _find_zeros(numbers: Vec) -> Mask:
    """Return the steps from or to a row of zeros, which stands for none, (n−1,)."""
    is_zero = ~numbers.any(axis=1) & (numbers.shape[1] > 1)
    return np.asarray(is_zero[1:] != is_zero[:-1])


def _measure_turn(a: Vec, b: Vec) -> float:
    return 2.0 * float(np.arccos(min(abs(float(a @ b)), 1.0)))


def _find_steps(t: Vec) -> Vec:
    return np.maximum(np.diff(t), _SHORTEST_STEP)
