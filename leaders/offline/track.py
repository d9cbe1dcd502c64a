"""Checked motion of one limb."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from paprle.contracts.types import LimbCommand, Vec, readonly
from paprle.leaders.offline.curves import BoundedCurve, Curve, SmoothCurve

_CUTOFF = 10.0  # [Hz] chosen: twice what a hand does; a tracker's noise is above
_TRACKED = 0.008  # [s] chosen: a tracker's rows are farther apart, a session's are not
_DENSE = 0.1  # [s] chosen: a hand changes its mind three times a second at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows of poses, joints or axes; the others are None.

    Attributes:
        t: Stamps, (n,), [s].
        p: (n, 3), [m].
        quat_xyzw: (n, 4).
        q: (n, m), [rad].
        opening: 0 … 1, (n,).
        axes: Since the row before, (n, m).
        mode: Counter, (n,).
    """

    t: Vec
    p: Vec | None = None
    quat_xyzw: Vec | None = None
    q: Vec | None = None
    joint_names: tuple[str, ...] = ()
    opening: Vec | None = None
    axes: Vec | None = None
    axis_names: tuple[str, ...] = ()
    mode: npt.NDArray[np.int64] | None = None

    def take(self, index: npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> Rows:
        """Return the rows of an index or mask."""

        def part(values: Vec | None) -> Vec | None:
            return None if values is None else values[index]

        return Rows(
            t=self.t[index],
            p=part(self.p),
            quat_xyzw=part(self.quat_xyzw),
            q=part(self.q),
            joint_names=self.joint_names,
            opening=part(self.opening),
            axes=part(self.axes),
            axis_names=self.axis_names,
            mode=None if self.mode is None else self.mode[index],
        )

    def numbers(self) -> Vec:
        """Return all numbers but the stamps, (n, k)."""
        kinds = self.p, self.quat_xyzw, self.q, self.axes
        parts = [x for x in kinds if x is not None]
        if self.opening is not None:
            parts.append(self.opening[:, None])
        return np.hstack(parts)


class RowTrack:
    """C² curves if dense, else straight lines; gaps and ends hold.

    Attributes:
        rows: With unit quaternions.
        breaks: Behind rows, (n−1,).
    """

    def __init__(self, rows: Rows, breaks: npt.NDArray[np.bool_]) -> None:
        self.rows = rows
        self.breaks = breaks
        is_dense = float(np.median(np.diff(rows.t))) <= _DENSE
        self._path: _Dense | _Sparse = (_Dense if is_dense else _Sparse)(rows, breaks)
        self._axes = None if rows.axes is None else _Axes(rows, breaks)

    def at(self, t: float) -> LimbCommand:
        """Return the command at source time ``t``, [s]."""
        command = self._path.at(t)
        return command if self._axes is None else self._axes.add(command, t)


class _Axes:
    def __init__(self, rows: Rows, breaks: npt.NDArray[np.bool_]) -> None:
        axes = np.zeros((len(rows.t) + 1, len(rows.axis_names)))
        if rows.axes is not None:
            axes[1:-1] = np.where(breaks[:, None], 0.0, rows.axes[1:])
        self._axes = np.clip(axes, -1.0, 1.0)
        self._stamps: list[float] = rows.t.tolist()
        self._mode = np.zeros(len(rows.t), int) if rows.mode is None else rows.mode

    def add(self, command: LimbCommand, t: float) -> LimbCommand:
        """Return a command with deflections and mode."""
        i = bisect_left(self._stamps, t)
        mode = int(self._mode[min(i, len(self._mode) - 1)])
        return replace(command, axes=readonly(self._axes[i]), mode=mode)


class _Dense:
    def __init__(self, rows: Rows, breaks: npt.NDArray[np.bool_]) -> None:
        self._pose = self._q = self._opening = None
        if rows.p is not None and rows.quat_xyzw is not None:
            poses = np.hstack([rows.p, _turn_evenly(rows.quat_xyzw)])
            is_tracked = float(np.median(np.diff(rows.t))) >= _TRACKED
            self._pose = (
                SmoothCurve(rows.t, poses, breaks, _CUTOFF)
                if is_tracked
                else Curve(rows.t, poses, breaks)
            )
        if rows.q is not None:
            self._q = Curve(rows.t, rows.q, breaks)
        if rows.opening is not None:
            self._opening = BoundedCurve(rows.t, rows.opening[:, None], breaks)

    def at(self, t: float) -> LimbCommand:
        q = T = opening = None
        if self._pose is not None:
            T = pin.XYZQUATToSE3(_normalise(self._pose.at(t)))
        if self._q is not None:
            q = readonly(self._q.at(t))
        if self._opening is not None:
            opening = min(max(float(self._opening.at(t)[0]), 0.0), 1.0)
        return LimbCommand(q=q, T_leader_base_leader_eef=T, opening=opening)


class _Sparse:
    """Lerp between rows, and slerp along the shorter arc."""

    def __init__(self, rows: Rows, breaks: npt.NDArray[np.bool_]) -> None:
        self.rows, self.breaks = rows, breaks
        self._stamps: list[float] = rows.t.tolist()
        if rows.p is not None and rows.quat_xyzw is not None:
            self._dp = self._steps(np.diff(rows.p, axis=0))
            self._R = _rotations(rows.quat_xyzw)
            self._turns = self._steps(_turns(rows.quat_xyzw))
        if rows.q is not None:
            self._dq = self._steps(np.diff(rows.q, axis=0))
        if rows.opening is not None:
            self._dopening = self._steps(np.diff(rows.opening))

    def _steps(self, steps: Vec) -> Vec:
        steps = steps.copy()
        steps[self.breaks] = 0.0
        return readonly(np.concatenate([steps, np.zeros_like(steps[:1])]))

    def at(self, t: float) -> LimbCommand:
        """Return the command at source time ``t``, [s]."""
        stamps = self._stamps
        i = max(0, bisect_right(stamps, t) - 1)
        u = 0.0
        if i + 1 < len(stamps) and t > stamps[i]:
            u = (t - stamps[i]) / (stamps[i + 1] - stamps[i])
        rows, q, T, opening = self.rows, None, None, None
        if rows.p is not None:
            T = pin.SE3(
                self._R[i] @ pin.exp3(u * self._turns[i]), rows.p[i] + u * self._dp[i]
            )
        if rows.q is not None:
            q = rows.q[i] + u * self._dq[i]
            q.setflags(write=False)
        if rows.opening is not None:
            opening = float(rows.opening[i] + u * self._dopening[i])
        return LimbCommand(q=q, T_leader_base_leader_eef=T, opening=opening)


def _rotations(quat_xyzw: Vec) -> Vec:
    return readonly([pin.Quaternion(row).toRotationMatrix() for row in quat_xyzw])


def _turn_evenly(quat_xyzw: Vec) -> Vec:
    flips = np.sum(quat_xyzw[1:] * quat_xyzw[:-1], axis=1) < 0.0
    signs = np.where(np.concatenate([[0], np.cumsum(flips)]) % 2, -1.0, 1.0)
    return np.asarray(quat_xyzw * signs[:, None])


def _normalise(row: Vec) -> Vec:
    row[3:] /= np.linalg.norm(row[3:])
    return row


def _turns(quat_xyzw: Vec) -> Vec:
    a, b = quat_xyzw[:-1], quat_xyzw[1:]
    av, aw, bv, bw = a[:, :3], a[:, 3:], b[:, :3], b[:, 3:]
    vector = aw * bv - bw * av - np.cross(av, bv)  # of conj(a)·b
    scalar = aw * bw + np.sum(av * bv, axis=1, keepdims=True)
    # q and −q are the same turn: the one with a positive scalar is the shorter.
    vector = np.where(scalar < 0, -vector, vector)
    sine = np.linalg.norm(vector, axis=1, keepdims=True)
    angle = 2 * np.arctan2(sine, np.abs(scalar))
    # For tiny angles angle/sine is 2.
    ratio = np.divide(angle, sine, out=np.full_like(sine, 2.0), where=sine > 1e-12)
    return np.asarray(vector * ratio)
