"""Every trajectory carries its own stop.

What follows the next point is the brake that the gate has verified: each joint slows
down at its A from the last difference of commands. A controller that hears nothing more
therefore brakes by itself, on that path and on time, whoever was killed.

The gate's brake in command time is c + Σ (v − i A h) h, i = 1 … n. These positions lie
on one parabola, c + w t − A t²/2 with w = v − A h/2, at t = i h, which ends where w is
used up. A cubic through positions and velocities is exact on it, so a point is needed
only where some joint comes to rest.

A command that comes late, by three periods, finds the robot beside its path: it went on
along the brake. What follows begins where the robot is and comes back to the commands
as a critically damped spring does, x¨ = −2 ω x˙ − ω² x with ω = 2 A / V. After a whole
brake from V, when x = V²/2A and x˙ = −V, that is x = x₀ exp(−ω t), and nowhere harder
than 2 A. After a stall, commands begin anew at rest: where the brake has ended, or at
another place that no joint could have reached from the last one.

A joint_trajectory_controller as ROS 2 brings it begins each message at the *measured*
state, which lags: two hundred times a second the arm would be called back to where it
is. So each message begins with the point at time zero that the one before has reached
by then. Such a controller uses the state it measures before the first point alone, and
from a point at zero on there is no before (``Trajectory::sample``, ros2_controllers).
Whoever begins at the desired state finds itself there.
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
    """Points of a trajectory.

    Attributes:
        times: From its arrival, shape (k,), [s].
        q: Positions, shape (k, n), [rad] or [m].
        dq: Velocities, shape (k, n); the last ones are zero.
    """

    times: Vec
    q: Vec
    dq: Vec

    def at(self, t: float) -> tuple[Vec, Vec]:
        """Return positions and velocities at a time, as a controller's cubic has them.

        Args:
            t: From its arrival, [s]; before the first point it is that one.
        """
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
    """Adds to each command where it comes from and the brake that follows it.

    Attributes:
        tells_begin: Messages begin with a point at time zero; not needed where the
            controller is known to begin at its desired state, which takes up what
            messages are early or late.
    """

    def __init__(
        self, q_min: Vec, q_max: Vec, dq_max: Vec, ddq_max: Vec, period: float
    ) -> None:
        """Take the joints' limits.

        Args:
            q_min: Lower position limits, shape (n,), [rad] or [m].
            q_max: Upper position limits, shape (n,).
            dq_max: Velocity limits V, shape (n,), [rad/s] or [m/s].
            ddq_max: Acceleration limits A, shape (n,), [rad/s²] or [m/s²].
            period: Of a command, h [s].
        """
        self._q_min, self._q_max = q_min, q_max
        self._ddq_max, self._h = ddq_max, period
        self._omega = 2.0 * ddq_max / dq_max
        self._farthest = dq_max * (period + _SAME)
        self.tells_begin = True
        self.forget()

    def forget(self) -> None:
        """Begin anew: the next command is the first."""
        self._q: Vec | None = None
        self._sent: StopPlan | None = None
        self._sent_ns = 0
        self._offset: tuple[Vec, Vec] | None = None
        self._note()

    def _note(self) -> None:
        self._before = self._q, self._sent, self._sent_ns, self._offset

    def take_back(self) -> None:
        """Take the last trajectory for one that never left."""
        self._q, self._sent, self._sent_ns, self._offset = self._before

    def advance(
        self, q: Vec, now_ns: int, lead: float, *, is_off: bool = False
    ) -> StopPlan:
        """Return the trajectory for the next command.

        Args:
            q: The command, shape (n,), [rad] or [m].
            now_ns: When it is sent, [ns].
            lead: When it is to be reached, from the trajectory's arrival, [s].
            is_off: The robot is not on its path, or its states are wrong: its
                controller begins where it knows that it is.

        Returns:
            The way to the command and the brake that follows; after a gap beside it,
            from where the robot is. The first one has no begin: what the controller
            holds by itself is its own to leave.
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
        """Return where the last trajectory is at a time, [ns], and how fast."""
        if self._sent is None:
            return None
        return self._sent.at((now_ns - self._sent_ns) * 1e-9)

    @property
    def end(self) -> Vec | None:
        """End of the last trajectory, shape (n,); None if there is none."""
        return None if self._sent is None else self._sent.q[-1]

    def _begins_anew(self, q: Vec, elapsed: float) -> bool:
        """Return whether a command, shape (n,), is from rest after a gap, [s]."""
        if self._q is None or self.end is None or elapsed <= _GAP * self._h:
            return False
        is_at_end = bool((np.abs(q - self.end) < _SAME).all())
        return is_at_end or bool((np.abs(q - self._q) > self._farthest).any())

    def plan(self, q: Vec, q_prev: Vec, lead: float) -> StopPlan:
        """Return a trajectory that goes to a command and then stops.

        Args:
            q: The command, shape (n,), [rad] or [m].
            q_prev: The command before it, shape (n,).
            lead: When the command is to be reached, from the start, [s].

        Returns:
            At most n + 1 points.
        """
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
        """Return the offset and its speed at times, shape (k, n) each."""
        x, dx = self._offset if self._offset is not None else (0.0, 0.0)
        omega, t = self._omega, t[:, None]
        pull = dx + omega * x
        share = np.exp(-omega * t)
        return share * (x + pull * t), share * (dx - omega * pull * t)

    def _shift(self, plan: StopPlan) -> StopPlan:
        """Return a plan beside which the robot is, and back to its end."""
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
    """Return a plan that begins at a state, at time zero."""
    times = np.append(0.0, plan.times)
    return StopPlan(times, np.vstack([q, plan.q]), np.vstack([dq, plan.dq]))


def _merge(ends: Vec) -> Vec:
    """Return 0 and the ends, increasing, those that nearly coincide as the latest."""
    times = [0.0]
    for end in np.sort(ends):
        if end < times[-1] + _APART:
            if len(times) > 1:
                times[-1] = float(end)
        else:
            times.append(float(end))
    return np.array(times)
