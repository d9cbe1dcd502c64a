"""Detection of held joints.

A held joint falls behind command and model, or behind the model in all, by more than
its lag's error: δ |a| in speed, δ |v| in position.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paprle.contracts.types import Vec

_WINDOW = 0.015  # [s] chosen: three measurements of a gate of 200 Hz
_FALL = 0.0016  # [rad] chosen: more than a count of 4096, which is 1.5 mrad
_STOPS = 0.35  # chosen: share of the model's way that a held joint does not make
_BEHIND = 0.008  # [rad] chosen: five counts; a light touch is slow
_UNSURE = 0.02  # [s] chosen: a real drive is no first order
_UNSURE_SHARE = 0.5  # chosen: of the lag; a rig may not have been measured
_SLOWS = 0.2  # chosen: of its model's way; what loses less moves freely
_BACK = 0.001  # [rad] chosen: the command is back at what holds it
_MOVES = 0.05  # [rad/s] chosen: in slower motion friction looks like contact
_SMOOTH = 0.04  # [s] chosen: counts of a command are no acceleration
_PEAK = 0.08  # [s] chosen: for so long a change of speed leaves its mark
_ON, _OFF = 0.01, 0.03  # [s] chosen: felt at once, gone without a step
_FREE = 0.04  # [s] chosen: a held joint slips for less


class _Past(NamedTuple):
    age: float
    q_cmd: Vec
    q_meas: Vec
    q_model: Vec


class JointContacts:
    """Contacts of n joints."""

    def __init__(self, lag: Vec) -> None:
        """Prepare for lags of shape (n,), [s]."""
        self._unsure = _UNSURE + _UNSURE_SHARE * lag
        n = lag.size
        self._share, self._side = np.zeros(n), np.zeros(n)
        self._speed, self._acceleration, self._free = np.zeros((3, n))
        self._slow: Vec | None = None
        self._past: list[_Past] = []

    @property
    def held(self) -> Vec:
        """Certainty of being held, −1 (moving down) to 1 (up), shape (n,)."""
        held: Vec = self._side * self._share
        return held

    def reset(self) -> None:
        """Forget all contacts."""
        self._share[:] = self._side[:] = self._speed[:] = self._acceleration[:] = 0.0
        self._slow, self._past = None, []

    def update(self, dt: float, q_cmd: Vec, q_meas: Vec, q_model: Vec) -> None:
        """Judge a measurement, shape (n,), [rad], after ``dt``, [s]."""
        self._past = [one._replace(age=one.age + dt) for one in self._past]
        while len(self._past) > 1 and self._past[1].age >= _WINDOW - 0.5 * dt:
            self._past.pop(0)
        if self._past:
            self._judge(dt, q_cmd, q_meas, q_model)
        self._past.append(_Past(0.0, q_cmd.copy(), q_meas.copy(), q_model.copy()))

    def _judge(self, dt: float, q_cmd: Vec, q_meas: Vec, q_model: Vec) -> None:
        window, cmd_0, meas_0, model_0 = self._past[0]
        self._follow_peaks((q_model - self._past[-1].q_model) / dt, dt)
        ahead, residual = q_cmd - q_meas, q_meas - q_model
        side = np.sign(ahead)
        way, made = side * (q_model - model_0), side * (q_meas - meas_0)
        fallen = np.minimum(way, side * (q_cmd - cmd_0)) - made
        # a lag that is off by δ is off by δ Δv in place, and Δv is at most a t, or 2 v
        change = np.minimum(self._acceleration * window, 2.0 * self._speed)
        stops = fallen > np.maximum(_FALL, _STOPS * way) + self._unsure * change
        stops &= way > 0.0
        behind = -side * residual > _BEHIND + self._unsure * self._speed
        moves = (made > _MOVES * window) & (made > (1.0 - _SLOWS) * way)
        starts = (stops | behind & ~moves) & (
            (self._share <= 0.0) | (side == self._side)
        )
        self._side = np.where(starts, side, self._side)
        pressed = self._side * ahead
        self._free = np.where(moves & ~starts, self._free + dt, 0.0)
        is_held = (starts | (self._share > 0.0)) & (pressed > _BACK)
        is_held &= self._free < _FREE
        step = np.where(starts, dt / _ON, 0.0)
        step = np.where(is_held, step, -dt / _OFF)
        self._share = np.minimum(np.maximum(self._share + step, 0.0), 1.0)

    def _follow_peaks(self, velocity: Vec, dt: float) -> None:
        slow = velocity if self._slow is None else self._slow
        acceleration = np.abs(velocity - slow) / (dt + _SMOOTH)
        self._slow = slow + (velocity - slow) * (dt / (dt + _SMOOTH))
        fade = np.exp(-dt / _PEAK)
        self._acceleration = np.maximum(acceleration, fade * self._acceleration)
        self._speed = np.maximum(np.abs(velocity), fade * self._speed)
