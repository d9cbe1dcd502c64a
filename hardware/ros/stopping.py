"""Trajectories that end in the gate's brake, in case commands stop.

The brake is c + w t − A t²/2 with w = v − A h/2, exact as a cubic. Late commands return
as a critically damped spring, ω = 2 A / V, nowhere harder than 2 A.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]

_APART = 1e-3  # [s] chosen: nearer points are one; below any controller's period
_GAP = 3.0  # [periods] chosen: as the gate's own watch for stalls
_NOTABLE = 0.02  # [rad] chosen: less, a drive takes in its stride
_BACK = 1e-4  # [rad] chosen: an offset that is none any more; below any encoder's step
_SAME = 1e-6  # [rad] or [s] chosen: rounding
_SETTLED = 4.0  # [1/ω] chosen: after that 2 % of an offset are left


@dataclass(frozen=True, slots=True)
class StopPlan:
    """Points; the last velocities are zero.

    Attributes:
        times: From arrival, shape (k,), [s].
        q: Shape (k, n), [rad] or [m].
        dq: Shape (k, n).
    """

    times: Vec
    q: Vec
    dq: Vec

    def at(self, t: float) -> tuple[Vec, Vec]:
        """Return positions and velocities ``t`` [s] after arrival."""
        times = self.times
        i = int(np.searchsorted(times, t, side="right")) - 1
        if i < 0 or i >= len(times) - 1:
            k = max(i, 0)
            return self.q[k], self.dq[k]
        T = float(times[i + 1] - times[i])
        s = (t - float(times[i])) / T
        m0, m1 = T * self.dq[i], T * self.dq[i + 1]
        step = self.q[i + 1] - self.q[i]
        a, b = m0 + m1 - 2.0 * step, 3.0 * step - 2.0 * m0 - m1
        q = self.q[i] + ((a * s + b) * s + m0) * s
        return q, ((3.0 * a * s + 2.0 * b) * s + m0) / T


class StopPlanner:
    """Planner of begins and brakes.

    Attributes:
        tells_begin: Messages begin with a point at time zero, since controllers of ROS
            2 begin at the measured state (``Trajectory::sample``, ros2_controllers).
    """

    def __init__(
        self, q_min: Vec, q_max: Vec, dq_max: Vec, ddq_max: Vec, period: float
    ) -> None:
        self._q_min, self._q_max = q_min, q_max
        self._ddq_max, self._h = ddq_max, period
        self._omega = 2.0 * ddq_max / dq_max
        self._farthest = dq_max * (period + _SAME)
        self.tells_begin = True
        self.forget()

    def forget(self) -> None:
        """Forget the last command."""
        self._q: Vec | None = None
        self._sent: StopPlan | None = None
        self._sent_ns = 0
        self._offset: tuple[Vec, Vec] | None = None
        self._note()

    def _note(self) -> None:
        self._before = self._q, self._sent, self._sent_ns, self._offset

    def take_back(self) -> None:
        """Mark the last as unsent."""
        self._q, self._sent, self._sent_ns, self._offset = self._before

    def advance(
        self, q: Vec, now_ns: int, lead: float, *, is_off: bool = False
    ) -> StopPlan:
        """Return the path to the next command, shape (n,), and the brake.

        After a gap it begins at the robot's state; the first has no begin. ``lead`` is
        from arrival to command, [s]; ``is_off``: the robot is off its path.
        """
        self._note()
        elapsed = (now_ns - self._sent_ns) * 1e-9
        q_prev = q if self._q is None or self._begins_anew(q, elapsed) else self._q
        plan = self.plan(q, q_prev, lead)
        at, speed = self.find_state(now_ns) or (q, np.zeros_like(q))
        if self._sent is not None and elapsed > _GAP * self._h:
            v = (q - q_prev) / self._h
            x = at - (q - v * lead)
            self._offset = (x, speed - v) if np.abs(x).max() > _NOTABLE else None
        elif self._offset is not None:
            x, dx = self._decay(np.array([elapsed]))
            is_back = np.abs(x).max() < _BACK and np.abs(dx).max() < _BACK / self._h
            self._offset = None if is_back else (x[0], dx[0])
        if self._offset is not None:
            plan = self._shift(plan)
        told = plan
        if self._sent is not None and self.tells_begin:
            plan = _prepend(plan, at, speed)
        self._q, self._sent, self._sent_ns = q.copy(), plan, now_ns
        return told if is_off else plan

    def find_state(self, now_ns: int) -> tuple[Vec, Vec] | None:
        """Return the last trajectory's state at a time, [ns]."""
        if self._sent is None:
            return None
        return self._sent.at((now_ns - self._sent_ns) * 1e-9)

    @property
    def end(self) -> Vec | None:
        """End of the last trajectory, shape (n,), or None."""
        return None if self._sent is None else self._sent.q[-1]

    def _begins_anew(self, q: Vec, elapsed: float) -> bool:
        if self._q is None or self.end is None or elapsed <= _GAP * self._h:
            return False
        is_at_end = bool((np.abs(q - self.end) < _SAME).all())
        return is_at_end or bool((np.abs(q - self._q) > self._farthest).any())

    def plan(self, q: Vec, q_prev: Vec, lead: float) -> StopPlan:
        """Return at most n + 1 points to a command and to rest."""
        A, h = self._ddq_max, self._h
        v = (q - q_prev) / h
        w = np.maximum(np.abs(v) - 0.5 * A * h, 0.0)
        ends = w / A
        t = _merge(ends)
        run = np.minimum(t[:, None], ends)
        direction = np.sign(v)
        positions = q + direction * (w - 0.5 * A * run) * run
        # a joint that stands outside its limits may stay there, not go farther
        low, high = np.minimum(self._q_min, q), np.maximum(self._q_max, q)
        velocities = direction * (w - A * run)
        velocities[-1] = 0.0
        return StopPlan(lead + t, np.clip(positions, low, high), velocities)

    def _decay(self, t: Vec) -> tuple[Vec, Vec]:
        x, dx = self._offset if self._offset is not None else (0.0, 0.0)
        omega, t = self._omega, t[:, None]
        pull = dx + omega * x
        share = np.exp(-omega * t)
        return share * (x + pull * t), share * (dx - omega * pull * t)

    def _shift(self, plan: StopPlan) -> StopPlan:
        x, dx = self._decay(plan.times)
        end = plan.times[-1] + _SETTLED / float(self._omega.min())
        q = np.vstack([plan.q + x, plan.q[-1]])
        dq = np.vstack([plan.dq + dx, np.zeros_like(plan.dq[-1])])
        low, high = (
            np.minimum(self._q_min, plan.q[0]),
            np.maximum(self._q_max, plan.q[0]),
        )
        return StopPlan(np.append(plan.times, end), np.clip(q, low, high), dq)


def _prepend(plan: StopPlan, q: Vec, dq: Vec) -> StopPlan:
    times = np.append(0.0, plan.times)
    return StopPlan(times, np.vstack([q, plan.q]), np.vstack([dq, plan.dq]))


def _merge(ends: Vec) -> Vec:
    times = [0.0]
    for end in np.sort(ends):
        if end < times[-1] + _APART:
            if len(times) > 1:
                times[-1] = float(end)
        else:
            times.append(float(end))
    return np.array(times)
