"""The velocities of a step, and standing still, compiled."""

from __future__ import annotations

from paprle.compiled import compiled
from paprle.contracts.types import Vec
from paprle.robot.arrays import Ints


@compiled
def compute_velocities(
    q: Vec, q_prev: Vec, dt: Vec, limb_of: Ints, dq_prev: Vec, dq: Vec
) -> None:
    """Write the velocities of a step; a joint that had no time and stands keeps its.

    Args:
        q: Positions, shape (n,), [rad].
        q_prev: Those before, shape (n,).
        dt: Time between the two by limb, and last of joints in none, shape (m + 1,),
            [s]; 0: the leader has said nothing since, inf: nobody knows.
        limb_of: Place of each joint's limb in ``dt``, shape (n,).
        dq_prev: Velocities before, shape (n,), [rad/s].
        dq: Takes the velocities, shape (n,), [rad/s].
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
    """Return whether no velocity is above a bound; NaN is above any."""
    for j in range(len(dq)):  # noqa: SIM110 - no generators in kernels
        if not abs(dq[j]) <= bound:
            return False
    return True
