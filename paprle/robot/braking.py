"""Stopping speed and distance of a joint: closed forms of discrete time, compiled.

Commands are c_k, v_k = (c_k − c_{k−1})/h, and braking takes A·h off the speed each
period.
"""

from __future__ import annotations

import math

from paprle.compiled import compiled

_FAR = 1e6  # [rad] chosen: stands for "no limit"; keeps the closed form finite


@compiled
def compute_stopping_speed(distance: float, ddq_max: float, h: float) -> float:
    """Return the highest speed that still stops within a distance.

    Braking from v that starts in the next period covers
    S(v) = (n + 1) v h − A h² n(n + 1)/2 with n = ⌊v/(A h)⌋, this period's step
    included. S is continuous and monotone; this is its inverse,
    v = (d + A h² n(n + 1)/2) / ((n + 1) h), n = ⌊(√(1 + 8 d/(A h²)) − 1)/2⌋.
    The textbook √(2 A d) overshoots.

    Args:
        distance: Distance to the bound, [rad]; negative counts as 0.
        ddq_max: Acceleration limit A, [rad/s²].
        h: Period, [s].

    Returns:
        The speed, [rad/s], never more than ``distance / h``.

    References:
        docs/SAFETY.md, V1.
    """
    d = min(max(distance, 0.0), _FAR)
    unit = ddq_max * (h * h)
    n = math.floor((math.sqrt(1.0 + 8.0 * d / unit) - 1.0) / 2.0)
    return float((d + unit * n * (n + 1.0) / 2.0) / ((n + 1.0) * h))


@compiled
def compute_stopping_distance(speed: float, ddq_max: float, h: float) -> float:
    """Return how far a joint still goes when every next period brakes, [rad]."""
    n = math.floor(speed / (ddq_max * h))
    return float(n * speed * h - ddq_max * h * h * n * (n + 1.0) / 2.0)


@compiled
def compute_braking_velocity(v: float, ddq_max: float, h: float) -> float:
    """Return the velocity after one period of full braking, [rad/s]."""
    return math.copysign(max(abs(v) - ddq_max * h, 0.0), v)
