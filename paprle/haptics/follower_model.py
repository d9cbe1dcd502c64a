"""Follower in free motion: dead time and first order.

The dead time is learnt in free motion alone (``safety.md``, lag-compensated feedback).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paprle.contracts.settings.feedback import RigSettings
from paprle.contracts.types import Vec
from paprle.haptics.contact.detection import JointContacts

_N_COMMANDS = 2048  # chosen: 2 s of a gate of 1 kHz
CONTACT_TOLERANCE = (
    0.02  # ε [rad] chosen: 5 × the ripple of a simulated servo in free motion
)
_MOVING = 0.1  # [rad/s] chosen: in slower motion friction looks like lag
_LEARNING = 1.0  # [1/s] chosen: lags change with load and temperature, in seconds
_CALM_NS = 200_000_000  # chosen: longer than a follower rings after a contact
_GAP_NS = 100_000_000  # spec: safety.md A1, T_stale


class FollowerModel:
    """Model of all joints of the robot, arrays of shape (n,).

    Attributes:
        q: Predicted position, [rad] or [m].
        dead_time: Learnt dead time, [s].
        is_free: No recent contact of the joint's arm or gripper.
    """

    def __init__(
        self, rig: RigSettings, joints: Sequence[str], parts: Sequence[Vec] = ()
    ) -> None:
        n, usual = len(joints), (rig.dead_time, rig.time_constant)
        dead_time, tau = np.array([rig.lags.get(name, usual) for name in joints]).T
        self._tau = np.maximum(tau, 1e-6)
        self._spread = rig.lag_spread * (dead_time + tau)
        self._low = np.maximum(0.0, dead_time - self._spread)
        self._high = dead_time + self._spread
        self.dead_time = dead_time.copy()
        self.contact = JointContacts(dead_time + tau)
        self.q = np.zeros(n)
        self.is_free = np.zeros(n, dtype=np.bool_)
        self._parts = [np.asarray(part, dtype=np.int64) for part in parts]
        # each command stands twice, so that the newest _N_COMMANDS lie in one piece
        self._times = np.zeros(2 * _N_COMMANDS)
        self._commands = np.zeros((2 * _N_COMMANDS, n))
        self._joints = np.arange(n)
        self._newest = 0
        self._delayed = np.zeros(n)
        self._zero_ns, self._stamp_ns, self._meas_ns = 0, 0, 0
        self._touched_ns = np.zeros(n, dtype=np.int64)

    def update(
        self, stamp_ns: int, q_cmd: Vec, meas_ns: int, q_meas: Vec, *, is_held: bool
    ) -> None:
        """Advance to a newer measurement; arrays of shape (n,)."""
        if not 0 < stamp_ns - self._stamp_ns <= _GAP_NS or meas_ns < self._zero_ns:
            if stamp_ns != self._stamp_ns:
                self._restart(stamp_ns, q_cmd, meas_ns)
            return
        self._stamp_ns = stamp_ns
        self._append(1e-9 * (stamp_ns - self._zero_ns), q_cmd)
        if meas_ns > self._meas_ns:
            dt = 1e-9 * (meas_ns - self._meas_ns)
            self._meas_ns = meas_ns
            velocity = self._advance(1e-9 * (meas_ns - self._zero_ns), dt)
            self._detect_contact(q_meas, velocity, dt, is_held=is_held)
            self.contact.update(dt, q_cmd, q_meas, self.q)

    def _restart(self, stamp_ns: int, q_cmd: Vec, meas_ns: int) -> None:
        self._zero_ns = min(stamp_ns, meas_ns) - _GAP_NS * 100
        self._stamp_ns, self._meas_ns = stamp_ns, meas_ns
        self._touched_ns[:], self.is_free[:] = meas_ns, False
        self._times[:] = 1e-9 * (stamp_ns - self._zero_ns) - 1e-3
        self._times[0] = self._times[_N_COMMANDS] = 1e-9 * (stamp_ns - self._zero_ns)
        self._newest = 0
        self._commands[:] = q_cmd
        self.q, self._delayed = q_cmd.copy(), q_cmd.copy()
        self.contact.reset()

    def _append(self, t: float, q_cmd: Vec) -> None:
        self._newest = (self._newest + 1) % _N_COMMANDS
        for at in (self._newest, self._newest + _N_COMMANDS):
            self._times[at], self._commands[at] = t, q_cmd

    def _advance(self, t: float, dt: float) -> Vec:
        # ẏ = (u − y)/τ with u = u₀ + a s has y = u − a τ + (y₀ − u₀ + a τ) e^{−s/τ}.
        begin, end = self._delayed, self._interpolate_commands(t - self.dead_time)
        lag = (end - begin) * (self._tau / dt)
        before = self.q
        self.q = end - lag + (before - begin + lag) * np.exp(-dt / self._tau)
        self._delayed = end
        velocity: Vec = (self.q - before) / dt
        return velocity

    def _interpolate_commands(self, t: Vec) -> Vec:
        first = self._newest + 1
        times = self._times[first : first + _N_COMMANDS]
        i = np.minimum(np.maximum(np.searchsorted(times, t), 1), _N_COMMANDS - 1)
        t_0, t_1 = times[i - 1], times[i]
        share = (t - t_0) / np.maximum(t_1 - t_0, 1e-9)
        share = np.minimum(np.maximum(share, 0.0), 1.0)
        u_0 = self._commands[first + i - 1, self._joints]
        u_1 = self._commands[first + i, self._joints]
        delayed: Vec = u_0 + share * (u_1 - u_0)
        return delayed

    def _detect_contact(
        self, q_meas: Vec, velocity: Vec, dt: float, *, is_held: bool
    ) -> None:
        residual, speed = q_meas - self.q, np.abs(velocity)
        is_touched = np.abs(residual) > CONTACT_TOLERANCE + self._spread * speed
        is_touched |= is_held
        if is_touched.any():
            for part in self._parts:
                is_touched[part] = is_touched[part].any()
            self._touched_ns[is_touched] = self._meas_ns
        self.is_free = self._meas_ns - self._touched_ns > _CALM_NS
        error = -residual * velocity / (velocity * velocity + _MOVING**2)
        learns = self.is_free & (speed > _MOVING)
        step = np.where(learns, _LEARNING * dt * error, 0.0)
        learnt = np.maximum(self.dead_time + step, self._low)
        self.dead_time = np.minimum(learnt, self._high)
