"""Velocities of a step and detection of rest."""

from __future__ import annotations

from paprle.compiled import compiled
from paprle.contracts.types import Vec
from paprle.robot.arrays import Ints


@compiled
def compute_velocities(
    q: Vec, q_prev: Vec, dt: Vec, limb_of: Ints, dq_prev: Vec, dq: Vec
) -> None:
    """Write a step's velocities; a joint without time and motion keeps its own.

    Shapes are (n,), [rad] and [rad/s]; ``dt`` is by limb, last of other joints, shape
    (m + 1,), [s]; 0: no new sample, inf: unknown. ``limb_of`` indexes it.
    """
    for j in range(len(q)):
        step, time = q[j] - q_prev[j], dt[limb_of[j]]
        if time > 0.0:
            dq[j] = step / time
        elif time == 0.0 and step == 0.0:
            dq[j] = dq_prev[j]
        else:
            dq[j] = 0.0


@compiled
def is_standing(dq: Vec, bound: float) -> bool:
    """Return whether no velocity exceeds a bound; NaN exceeds any."""
    for j in range(len(dq)):  # noqa: SIM110 - no generators in kernels
        if not abs(dq[j]) <= bound:
            return False
    return True
