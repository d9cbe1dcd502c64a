"""The set of velocities from which a joint can still stop; closed form, per joint.

Time is discrete: commands are c_k, v_k = (c_k − c_{k−1})/h, and braking takes A·h off
the speed each period. All functions are pure and work on arrays.
"""

from __future__ import annotations

import numpy as np

from paprle.types import Vec

_FAR = 1e6  # [rad] chosen: stands for "no limit"; keeps the closed form finite


def compute_stopping_speed(distance: Vec, ddq_max: Vec, h: float) -> Vec:
    """Return the highest speed that still stops within a distance.

    Braking from v that starts in the next period covers
    S(v) = (n + 1) v h − A h² n(n + 1)/2 with n = ⌊v/(A h)⌋, this period's step
    included. S is continuous and monotone; this is its inverse,
    v = (d + A h² n(n + 1)/2) / ((n + 1) h), n = ⌊(√(1 + 8 d/(A h²)) − 1)/2⌋.
    The textbook √(2 A d) overshoots.

    Args:
        distance: Distance to the bound, shape (n,), [rad]; negative counts as 0.
        ddq_max: Acceleration limit A, shape (n,), [rad/s²].
        h: Period, [s].

    Returns:
        Speeds, shape (n,), [rad/s], never more than ``distance / h``.

    References:
        docs/SAFETY.md, V1.
    """
    d = np.minimum(np.maximum(distance, 0.0), _FAR)
    unit = ddq_max * (h * h)
    n = np.floor((np.sqrt(1.0 + 8.0 * d / unit) - 1.0) / 2.0)
    speed: Vec = (d + unit * n * (n + 1.0) / 2.0) / ((n + 1.0) * h)
    return speed


def compute_braking_velocity(v: Vec, ddq_max: Vec, h: float) -> Vec:
    """Return the velocity after one period of full braking, shape (n,)."""
    braked: Vec = np.copysign(np.maximum(np.abs(v) - ddq_max * h, 0.0), v)
    return braked


def limit_along(wanted: Vec, base: Vec, lower: Vec, upper: Vec) -> tuple[Vec, bool]:
    """Return what comes nearest to a velocity inside a box, keeping its direction.

    The largest t in [0, 1] with t · wanted inside the box keeps the direction exactly.
    Where no t is inside (the motion is turning), base + s (wanted − base) with the
    largest s is taken instead: ``base`` is full braking, which is always inside, so
    there is always an answer.

    Args:
        wanted: Wanted velocity of the group, shape (m,), [rad/s].
        base: Full braking, inside the box, shape (m,), [rad/s].
        lower: Lower corner of the box, shape (m,).
        upper: Upper corner of the box, shape (m,).

    Returns:
        The velocity, and whether it is the wanted one.
    """
    is_forward = wanted > 0.0
    far, near = np.where(is_forward, upper, lower), np.where(is_forward, lower, upper)
    moves = wanted != 0.0
    t_max = float((far[moves] / wanted[moves]).min(initial=1.0))
    t_min = float((near[moves] / wanted[moves]).max(initial=0.0))
    rests = ~moves
    if t_max >= t_min and (lower[rests] <= 0.0).all() and (upper[rests] >= 0.0).all():
        return t_max * wanted, t_max >= 1.0
    step = wanted - base
    room = np.where(step > 0.0, upper - base, lower - base)
    turns = step != 0.0
    s = min(1.0, max(0.0, float((room[turns] / step[turns]).min(initial=1.0))))
    return base + s * step, s >= 1.0
