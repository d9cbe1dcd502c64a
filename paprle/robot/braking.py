"""Stopping speed and distance of a joint in discrete time, compiled.

Commands are c_k, v_k = (c_k − c_{k−1})/h; braking takes A·h off the speed per period.
"""

from __future__ import annotations

import math

from paprle.compiled import compiled

_FAR = 1e6  # [rad] chosen: stands for "no limit"; keeps the closed form finite


@compiled
def compute_stopping_speed(distance: float, ddq_max: float, h: float) -> float:
    """Return the highest speed, [rad/s], that stops within a distance, [rad].

    It inverts S(v) = (n + 1) v h − A h² n(n + 1)/2 with n = ⌊v/(A h)⌋:

        v = (d + A h² n(n + 1)/2) / ((n + 1) h), n = ⌊(√(1 + 8 d/(A h²)) − 1)/2⌋,

    at most ``distance / h`` (docs/SAFETY.md, V1). A negative distance counts as 0.
    """
    d = min(max(distance, 0.0), _FAR)
    unit = ddq_max * (h * h)
    n = math.floor((math.sqrt(1.0 + 8.0 * d / unit) - 1.0) / 2.0)
    return float((d + unit * n * (n + 1.0) / 2.0) / ((n + 1.0) * h))


@compiled
def compute_stopping_distance(speed: float, ddq_max: float, h: float) -> float:
    """Return the distance of braking from the next period on, [rad]."""
    n = math.floor(speed / (ddq_max * h))
    return float(n * speed * h - ddq_max * h * h * n * (n + 1.0) / 2.0)


@compiled
def compute_braking_velocity(v: float, ddq_max: float, h: float) -> float:
    """Return the velocity after a period of full braking, [rad/s]."""
    return math.copysign(max(abs(v) - ddq_max * h, 0.0), v)
