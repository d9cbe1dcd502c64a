"""Friction of a joint by a swing; pure.

tau = J·ddq + b·dq + c·sign(dq) + g0 + g1·cos q + g2·sin q, by least squares.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from paprle.contracts.types import Vec

DURATION = 10.0
"""Time of swinging, [s]. chosen: five swings, the last two at full torque."""

FAR = 0.35
"""Most swing of a joint to either side, [rad]. chosen: no hand is in its way."""

_FREQUENCY = 0.5  # [Hz] chosen: slow enough that friction outweighs inertia
_RAMP = 6.0  # [s] chosen: torque grows until the joint moves well
_MOVED = 0.05  # [rad] chosen: below this a joint has not come loose
_MOVING = 0.05  # [rad/s] chosen: two counts of the velocity's register
_SMOOTH = 9  # chosen: readings averaged, 22 ms at 400 Hz
_LEAST = 100  # chosen: readings for six unknowns
_FIT = 0.6  # chosen: share of the torque's variance that the fit explains


@dataclass(frozen=True, slots=True)
class Friction:
    """Friction of a joint.

    Attributes:
        viscous: [N·m·s/rad].
        coulomb: [N·m].
    """

    viscous: float
    coulomb: float


class Excitation:
    """Torque that grows until the joint moves."""

    def __init__(self, cap: float) -> None:
        self._cap = cap
        self._start: float | None = None
        self._peak = cap

    def __call__(self, t: float, angle: float) -> float | None:
        """Return the torque, or None at the end."""
        if t > DURATION:
            return None
        if self._start is None:
            self._start = angle
        away = angle - self._start
        grown = self._cap * min(t / _RAMP, 1.0)
        if abs(away) > FAR:
            self._peak = min(self._peak, grown)  # it need not grow any further
        tau = min(grown, self._peak) * math.sin(2.0 * math.pi * _FREQUENCY * t)
        return 0.0 if tau * away > 0.0 and abs(away) > FAR else tau


def fit_friction(t: Vec, q: Vec, dq: Vec, tau: Vec) -> Friction:
    """Return the friction of a swing; arrays (m,), SI units.

    Raises:
        ValueError: If it does not show.
    """
    if len(t) < _LEAST or float(np.ptp(q)) < _MOVED:
        moved = float(np.ptp(q)) if len(q) else 0.0
        raise ValueError(
            f"expected a swing of at least {_MOVED} [rad], got {moved:.3f} [rad]; let "
            "go of the joint, or look what holds it"
        )
    q, dq, tau = smooth(q), smooth(dq), smooth(tau)
    ddq = np.gradient(dq, smooth(t))
    moves = np.abs(dq) > _MOVING
    if moves.sum() < _LEAST:
        raise ValueError("expected steady motion, got hardly any; let go of the joint")
    terms = [ddq, dq, np.sign(dq), np.ones_like(q), np.cos(q), np.sin(q)]
    A = np.stack([term[moves] for term in terms], axis=1)
    found, *_ = np.linalg.lstsq(A, tau[moves], rcond=None)
    rest = tau[moves] - A @ found
    explained = 1.0 - float(rest.var() / max(tau[moves].var(), 1e-12))
    viscous, coulomb = float(found[1]), float(found[2])
    if explained < _FIT or viscous <= 0.0 or coulomb < 0.0:
        raise ValueError(
            f"expected friction that explains the swing, got b = {viscous:.4f} "
            f"[N·m·s/rad] and c = {coulomb:.4f} [N·m] ({100 * explained:.0f} %); keep "
            "your hands off the moving part and the other joints still"
        )
    return Friction(viscous, coulomb)


def smooth(values: Vec) -> Vec:
    """Return averages over neighbours."""
    smooth: Vec = np.convolve(values, np.ones(_SMOOTH) / _SMOOTH, mode="valid")
    return smooth
