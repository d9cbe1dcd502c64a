"""Interpolation of set-points at the gate's rate, with continuous acceleration.

Each bends a quintic toward the state predicted a few intervals on.
"""

from __future__ import annotations

import math

import numpy as np

from paprle.compiled import compiled
from paprle.contracts.types import Vec

_AHEAD = 3.0  # measured: in periods; with fewer its sign changes more often
_LONGEST = 0.04  # [s] chosen: a leader slower than 25 Hz is not foreseen that far
_LEAP = 0.5  # chosen: [periods] at V; a set-point farther off is no motion, but a place
_FASTEST = 2.0  # chosen: of V; what sets off faster leapt there, and stands
# A command that is held back (contact, clearance, V) draws the session's set-points
# along: their velocity is its own then, and to foresee by it would rock the two.
_APART = 0.05  # [s] chosen: at V
_APART_MOST = 0.1  # [rad] chosen: a third of what a session's set-points run ahead
# What bending leaves where a joint comes to stand: 0.01 rad/s² at 1 kHz
_NEAR, _SLOW = 1e-8, 1e-5  # chosen: [rad], [rad/s]
# Rows of the curve: coefficients of the powers of the time since its begin, and the
# velocity and the place of the last set-point
_C0, _C1, _C2, _C3, _C4, _C5, _V, _Q = range(8)
# Its times, [s]: its begin, its length, the instant of the last set-point, and of the
# last step
_BEGIN, _LENGTH, _AT, _LAST = range(4)


class Reference:
    """Motion of set-points: ``q``, [rad], ``dq``, [rad/s], shape (n,)."""

    def __init__(self, dq_max: Vec, ddq_max: Vec, period: float) -> None:
        """Make it of V and A, shapes (n,), and the session's period, [s]."""
        n = len(dq_max)
        self._dq_max, self._ddq_max = np.array(dq_max), np.array(ddq_max)
        self._period = period
        self._curve: Vec = np.zeros((8, n))
        self._times: Vec = np.zeros(4)
        self.q, self.dq = np.zeros((2, n))
        self.follow(self.q, self.dq, self.q, 0.0, 0.0)
        self.start(self.q, self.dq, 0.0)

    def start(self, q: Vec, dq: Vec, now: float) -> None:
        """Begin anew from q [rad] and dq [rad/s] at ``now``, [s]."""
        self._curve[:] = 0.0
        self._curve[_C0], self._curve[_C1] = q, dq
        self._times[:] = now, 0.0, math.nan, now

    def follow(self, q: Vec, dq: Vec, q_cmd: Vec, at: float, now: float) -> None:
        """Advance to ``now``, [s], toward the set-point of ``at``, [s].

        ``dq`` is the mean velocity since the last one, zero after a leap. Positions not
        finite pass unchanged; a joint whose ``q_cmd`` is held far off is not predicted.
        """
        follow_curve(
            self._curve,
            self._times,
            self._period,
            self._dq_max,
            self._ddq_max,
            q,
            dq,
            q_cmd,
            at,
            now,
            self.q,
            self.dq,
        )


@compiled
def follow_curve(  # noqa: PLR0913, PLR0917 - a tuple of arrays costs a microsecond
    curve: Vec,
    times: Vec,
    period: float,
    dq_max: Vec,
    ddq_max: Vec,
    q: Vec,
    dq: Vec,
    q_cmd: Vec,
    at: float,
    now: float,
    q_ref: Vec,
    dq_ref: Vec,
) -> None:
    """Bend the curve at a new set-point, and sample it at ``now``.

    ``curve``, (8, n), and ``times``, (4,), change; ``q_ref``, ``dq_ref`` are the
    sample.
    """
    if at != times[_AT] or _is_other(curve, q):
        _bend(curve, times, period, dq_max, ddq_max, q, dq, q_cmd, at)
    times[_LAST] = now
    s = now - times[_BEGIN]
    is_over = s > times[_LENGTH]
    s = min(max(s, 0.0), times[_LENGTH])
    for j in range(len(q)):
        q_ref[j], dq_ref[j], _ = _evaluate(curve, j, s)
        if not math.isfinite(q[j]):
            q_ref[j] = q[j]
        dq_ref[j] = 0.0 if is_over else _clip(dq_ref[j], dq_max[j])


@compiled
def _evaluate(curve: Vec, j: int, s: float) -> tuple[float, float, float]:
    c2, c3, c4, c5 = curve[_C2, j], curve[_C3, j], curve[_C4, j], curve[_C5, j]
    r = curve[_C0, j] + s * (curve[_C1, j] + s * (c2 + s * (c3 + s * (c4 + s * c5))))
    v = curve[_C1, j] + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))
    return r, v, 2.0 * c2 + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5))


@compiled
def _clip(dq: float, dq_max: float) -> float:
    return min(max(dq, -dq_max), dq_max) if math.isfinite(dq) else 0.0


@compiled
def _is_other(curve: Vec, q: Vec) -> bool:
    for j in range(len(q)):  # noqa: SIM110 - no generators in kernels
        if q[j] != curve[_Q, j]:
            return True
    return False


@compiled
def _bend(  # noqa: PLR0913, PLR0917 - a tuple of arrays costs a microsecond
    curve: Vec,
    times: Vec,
    period: float,
    dq_max: Vec,
    ddq_max: Vec,
    q: Vec,
    dq: Vec,
    q_cmd: Vec,
    at: float,
) -> None:
    interval = at - times[_AT]  # NaN for the first
    is_repeated = interval == 0.0  # the leader has said nothing since
    is_next = 0.0 < interval <= _LONGEST
    interval = max(interval, period) if is_next else period
    ahead = max(_AHEAD * period, interval)
    begin = times[_LAST]
    length = min(max(at + ahead - begin, 0.5 * ahead), 2.0 * ahead)
    s = min(max(begin - times[_BEGIN], 0.0), times[_LENGTH])
    has_ended = begin - times[_BEGIN] > times[_LENGTH]
    for j in range(len(q)):
        r, v, a = _evaluate(curve, j, s)
        if has_ended:  # it stands at its end
            v, a = 0.0, 0.0
        dq_j = _clip(dq[j], dq_max[j])
        if abs(q[j] - q_cmd[j]) > min(_APART * dq_max[j], _APART_MOST):
            dq_j = 0.0
        ddq = (dq_j - curve[_V, j]) / interval if is_next else 0.0
        ddq = min(max(ddq, -ddq_max[j]), ddq_max[j])
        # a set-point's velocity is the mean one of the interval before it
        v_at = min(max(dq_j + 0.5 * ddq * interval, -dq_max[j]), dq_max[j])
        q_end = q[j] + ahead * (v_at + 0.5 * ahead * ddq)
        v_end = v_at + ahead * ddq
        if not is_repeated:
            curve[_V, j] = dq_j
        curve[_Q, j] = q[j]
        is_still = dq_j == 0.0 and ddq == 0.0 and abs(q[j] - r) < _NEAR
        is_still = is_still and abs(v) < _SLOW
        is_near = abs(q_end - r - v * length) <= _LEAP * dq_max[j] * period
        if is_near and not is_still:
            _join(curve, j, length, (r, v, a), (q_end, v_end, ddq))
        else:  # a place to stand at, a leap, or NaN: as the set-point says
            curve[_C2:_V, j] = 0.0
            if abs(dq[j]) > _FASTEST * dq_max[j]:
                dq_j = 0.0
            curve[_C0, j] = q[j] + dq_j * (begin - at)
            curve[_C1, j] = dq_j
    times[_BEGIN], times[_LENGTH], times[_AT] = begin, length, at


@compiled
def _join(
    curve: Vec,
    j: int,
    length: float,
    begin: tuple[float, float, float],
    end: tuple[float, float, float],
) -> None:
    r, v, a = begin
    # what is left at the end if the joint went on as it is
    p = end[0] - r - length * (v + 0.5 * length * a)
    w = (end[1] - v - length * a) * length
    z = (end[2] - a) * length * length
    curve[_C0, j], curve[_C1, j], curve[_C2, j] = r, v, 0.5 * a
    curve[_C3, j] = (10.0 * p - 4.0 * w + 0.5 * z) / length**3
    curve[_C4, j] = (-15.0 * p + 7.0 * w - z) / length**4
    curve[_C5, j] = (6.0 * p - 3.0 * w + 0.5 * z) / length**5
