"""The posture bias of joints that a task leaves free: home, away from limits.

    way = (q_home − q) − κ ∇ Σ −log(1 − x²),    x = (q − middle) / half the range

The barrier counts only with joints to spare, near limits.

References:
    A. Liégeois, "Automatic supervisory control of the configuration and behavior of
    multibody mechanisms", IEEE Trans. SMC 7 (1977), eq. 14, with a barrier for his
    parabola.
"""

from __future__ import annotations

import math

from paprle.compiled import inlined
from paprle.contracts.types import Vec
from paprle.kinematics.task import HOME, Q_MAX, Q_MIN

_BARRIER = 0.5  # [rad²] measured: κ; 0.1 to 1 are as good
_NEAREST = (
    0.98  # [1] chosen: of half the range; nearer to a limit the push is as strong
)


@inlined
def find_posture_bias(joints: Vec, j: int, q: float, has_spare: bool) -> float:
    """Return the posture bias of joint j at q, [rad]."""
    way = float(joints[HOME, j] - q)
    half = 0.5 * (joints[Q_MAX, j] - joints[Q_MIN, j])
    if has_spare and 0.0 < half < math.inf:
        x = (q - joints[Q_MIN, j]) / half - 1.0
        x = min(max(x, -_NEAREST), _NEAREST)
        way -= _BARRIER * 2.0 * x / ((1.0 - x * x) * half)
    return way
