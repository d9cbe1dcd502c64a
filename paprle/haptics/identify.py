"""Identification of lag and friction from two tones.

Friction follows from least squares over all T_d of
tau(t − T_d) = I ddq + b dq + c sign(dq) + k_0 + k_1 q.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from paprle.contracts.types import Vec

TONES = (0.6, 1.7)
"""[Hz] chosen: no whole multiple of each other, below what leaders and arms follow."""

_LONGEST = 0.3  # [s] chosen: a rig that is later cannot be felt through
_LONGEST_LOOP = 0.04  # [s] chosen: a later one cannot be told from inertia
_STEP = 1e-3  # [s] chosen: half a period of the quickest gate
_SURE = 0.2  # chosen: share by which a stiffness may be off for noise
_LEAST = 100  # chosen: measurements for four unknowns
_SLOWEST = 0.2  # [rad/s] chosen: nearer to rest the sign of a velocity is noise


class FollowerLag(NamedTuple):
    """Lag of a follower, [s].

    Attributes:
        stiffness: Effort by position error, [N·m/rad]; NaN: unknown.
    """

    dead_time: float
    time_constant: float
    residual: float
    stiffness: float = math.nan


class Motor(NamedTuple):
    """Parameters of a leader's joint.

    Attributes:
        viscous: b, [N·m·s/rad].
        coulomb: c, [N·m].
        inertia: I, [kg·m²]; rough.
        delay: From torque to motion, [s]; rough.
    """

    viscous: float
    coulomb: float
    inertia: float
    delay: float
    residual: float


def make_tones(t: Vec | float, amplitude: float, rise: float = 1.0) -> Vec:
    """Return both tones, ramped, at most ``amplitude``."""
    waves = sum(np.sin(2 * np.pi * f * np.asarray(t)) / 2.0 for f in TONES)
    return np.asarray(amplitude * np.minimum(np.asarray(t) / rise, 1.0) * waves)


def fit_lag(t_cmd: Vec, q_cmd: Vec, t_meas: Vec, q_meas: Vec) -> FollowerLag:
    """Return the lag by both tones' gain and phase; shape (N,), times in [s]."""
    gains = _find_tones(t_meas, q_meas) / _find_tones(t_cmd, q_cmd)
    d = np.arange(0.0, _LONGEST, _STEP)[:, None, None]
    tau = np.arange(0.0, _LONGEST, _STEP)[None, :, None]
    w = 2 * np.pi * np.array(TONES)
    error = np.abs(np.exp(-1j * w * d) / (1.0 + 1j * w * tau) - gains) ** 2
    total = error.sum(axis=2)
    i, j = np.unravel_index(int(total.argmin()), total.shape)
    residual = float(np.sqrt(total[i, j] / len(TONES)))
    return FollowerLag(float(i * _STEP), float(j * _STEP), residual)


def fit_drive(t: Vec, q_cmd: Vec, q_meas: Vec, tau: Vec) -> float:
    """Return k, [N·m/rad], of tau = k (q_cmd − q) + d dq + k_0 + k_1 q, or NaN."""
    if not np.isfinite(tau).all() or len(tau) < _LEAST:
        return math.nan
    terms = (q_cmd - q_meas, np.gradient(q_meas, t), np.ones_like(t), q_meas)
    A = np.stack(terms, axis=1)
    x, _, rank, _ = np.linalg.lstsq(A, tau, rcond=None)
    if rank < A.shape[1]:
        return math.nan
    variance = float(np.var(tau - A @ x)) * float(np.linalg.inv(A.T @ A)[0, 0])
    return float(x[0]) if x[0] > 0.0 and variance**0.5 < _SURE * x[0] else math.nan


def _find_tones(t: Vec, q: Vec) -> Vec:
    columns = [np.ones_like(t), t]
    for f in TONES:
        columns += [np.cos(2 * np.pi * f * t), np.sin(2 * np.pi * f * t)]
    x = np.linalg.lstsq(np.stack(columns, axis=1), q, rcond=None)[0]
    return np.asarray(x[2::2] - 1j * x[3::2])


def fit_motor(t: Vec, tau: Vec, q: Vec, dq: Vec) -> Motor:
    """Return a joint's parameters from even samples, [s], [N·m], [rad], [rad/s]."""
    dt = float(np.median(np.diff(t)))
    ddq = np.gradient(dq, dt)
    terms: Sequence[Vec] = (ddq, dq, np.sign(dq), np.ones_like(q), q)
    A, moves = np.stack(terms, axis=1), np.abs(dq) > _SLOWEST
    best = Motor(0.0, 0.0, 0.0, 0.0, np.inf)
    for late in range(round(_LONGEST_LOOP / dt) + 1):
        use = moves[late:]
        asked, rows = tau[: len(tau) - late][use], A[late:][use]
        if len(asked) < 10 * A.shape[1]:
            break
        x = np.linalg.lstsq(rows, asked, rcond=None)[0]
        left = float(np.linalg.norm(rows @ x - asked) / np.linalg.norm(asked))
        if left < best.residual:
            inertia, b, c = np.maximum(x[:3], 0.0)
            best = Motor(float(b), float(c), float(inertia), late * dt, left)
    return best
