"""The velocity of a step, and standing still, compiled."""

from __future__ import annotations

from paprle.compiled import compiled
from paprle.contracts.types import Vec


@compiled
def compute_velocity(q: Vec, q_before: Vec, dt: float, dq: Vec) -> bool:
    """Write the velocity of a step, 0 for dt = 0; tell whether anything moved."""
    has_moved = False
    for j in range(len(q)):
        step = q[j] - q_before[j]
        has_moved = has_moved or step != 0.0
        dq[j] = step / dt if dt > 0.0 else 0.0
    return has_moved


@compiled
def is_standing(dq: Vec, bound: float) -> bool:
    """Tell whether no velocity is above a bound; NaN is above any."""
    for j in range(len(dq)):  # noqa: SIM110 - no generators in kernels
        if not abs(dq[j]) <= bound:
            return False
    return True
