"""Rigid bodies of an SO-101 arm.

Lift, elbow and wrist turn about parallel axes: their links move in a plane that the pan
turns about the vertical. A place in it is a complex number, forwards + i · upwards, and
a joint turns it by exp(−iq). Roll and gripper are constant inertias without weight.
With absolute angles θ of the links,

    M(θ) θ̈ + Im(M) θ̇² + gravity = τ.

References:
    Masses, centres and joints: SO-ARM100, Simulation/SO101/so101_new_calib.urdf.
"""

from __future__ import annotations

import cmath
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vec = NDArray[np.float64]

GRAVITY = 9.81  # spec: standard gravity [m/s²]


@dataclass(frozen=True, slots=True)
class Body:
    """One link of the plane at zero.

    Attributes:
        joint: From the pan's axis, [m].
        centre: From the joint, [m].
        mass: [kg].
        inertia: About the centre, [kg·m²].
    """

    joint: complex
    centre: complex
    mass: float
    inertia: float


# spec: so101_new_calib.urdf; the hand is wrist, gripper and jaw together
UPPER = Body(0.03039 + 0.11660j, 0.03878 + 0.20645j, 0.103, 1.42e-4)
FORE = Body(0.05839 + 0.22917j, 0.15646 + 0.23241j, 0.104, 1.45e-4)
HAND = Body(0.19329 + 0.23437j, 0.26033 + 0.23577j, 0.178, 2.1e-4)
TIP = 0.29240 + 0.23437j  # spec: there, the wrist roll's origin, 0.04 m further [m]
TURRET = 1.2e-4  # spec: there, shoulder about the pan's axis [kg·m²]
ROLL = 8e-5  # spec: there, gripper and jaw about the roll's axis [kg·m²]
JAW = 2e-5  # spec: there, jaw about its own axis [kg·m²]


class PlanarLinks:
    """Bodies of an SO-101 arm; joint limits (6,), [rad]."""

    def __init__(self, limits: Sequence[tuple[float, float]]) -> None:
        self.lower = np.array([low for low, _ in limits])
        self.upper = np.array([high for _, high in limits])
        masses = UPPER.mass, FORE.mass, HAND.mass
        centres = [one.centre - one.joint for one in (UPPER, FORE, HAND)]
        upper, fore = FORE.joint - UPPER.joint, HAND.joint - FORE.joint
        carried = masses[1] + masses[2]
        self._rods = upper, fore
        self._centres = centres
        # Moments: mass times distance of all that hangs on each absolute angle.
        self._moments = (
            masses[0] * centres[0] + carried * upper,
            masses[1] * centres[1] + masses[2] * fore,
            masses[2] * centres[2],
        )
        own = [
            one.inertia + one.mass * abs(centre) ** 2
            for one, centre in zip((UPPER, FORE, HAND), centres, strict=True)
        ]
        self._diagonal = (
            own[0] + carried * abs(upper) ** 2,
            own[1] + masses[2] * abs(fore) ** 2,
            own[2],
        )

    def _turn(self, q: Vec) -> tuple[complex, complex, complex]:
        lift, elbow, wrist = float(q[1]), float(q[2]), float(q[3])
        return (
            cmath.exp(-1j * lift),
            cmath.exp(-1j * (lift + elbow)),
            cmath.exp(-1j * (lift + elbow + wrist)),
        )

    def compute_gravity(self, q: Vec) -> Vec:
        """Return the gravity torque, (6,), [N·m]."""
        turned = zip(self._moments, self._turn(q), strict=True)
        upper, fore, hand = (-GRAVITY * (one * turn).real for one, turn in turned)
        return np.array([0.0, upper + fore + hand, fore + hand, hand, 0.0, 0.0])

    def measure_reach(self, q: Vec, hand: int) -> Vec:
        """Return joint distances; see ``arm.Links``."""
        del hand
        turn = self._turn(q)
        tip = (TIP - HAND.joint) * turn[2]
        from_elbow = self._rods[1] * turn[1] + tip
        from_lift = self._rods[0] * turn[0] + from_elbow
        radius = abs((UPPER.joint + from_lift).real)
        reach = [radius, abs(from_lift), abs(from_elbow), abs(tip), 0.0, 0.0]
        return np.array(reach)

    def accelerate(self, q: Vec, dq: Vec, tau: Vec, added: Vec) -> Vec:
        """Return the accelerations; see ``arm.Links``."""
        turn = self._turn(q)
        upper, fore, hand = (
            one * t for one, t in zip(self._moments, turn, strict=True)
        )
        rod, second = self._rods[0] * turn[0], self._rods[1] * turn[1]
        # Products of each rod with what hangs on it: inertia and Coriolis at once.
        c12 = rod.conjugate() * fore
        c13 = rod.conjugate() * hand
        c23 = second.conjugate() * hand
        m11, m22, m33 = self._diagonal
        m12, m13, m23 = c12.real, c13.real, c23.real
        w1 = float(dq[1])
        w2 = w1 + float(dq[2])
        w3 = w2 + float(dq[3])
        inertia, pull = self._spin(turn, float(dq[0]))
        b1 = -c12.imag * w2 * w2 - c13.imag * w3 * w3 + GRAVITY * upper.real + pull[0]
        b2 = c12.imag * w1 * w1 - c23.imag * w3 * w3 + GRAVITY * fore.real + pull[1]
        b3 = c13.imag * w1 * w1 + c23.imag * w2 * w2 + GRAVITY * hand.real + pull[2]
        # From absolute angles to joints: sums over what each joint carries.
        r2, r3 = m22 + m23, m23 + m33
        mass = np.array(
            [
                [m11 + m12 + m13 + m12 + r2 + m13 + r3, m12 + r2 + m13 + r3, m13 + r3],
                [m12 + r2 + m13 + r3, r2 + r3, r3],
                [m13 + r3, r3, m33],
            ]
        )
        load = np.array([b1 + b2 + b3, b2 + b3, b3])
        mass[np.diag_indices(3)] += added[1:4]
        out = np.empty(6)
        out[1:4] = np.linalg.solve(mass, tau[1:4] + load)
        swing = inertia[1] * w1 + inertia[2] * w2 + inertia[3] * w3
        out[0] = (tau[0] - swing * dq[0]) / (inertia[0] + added[0])
        out[4] = tau[4] / (ROLL + added[4])
        out[5] = tau[5] / (JAW + added[5])
        return out

    def _spin(
        self, turn: tuple[complex, complex, complex], pan: float
    ) -> tuple[tuple[float, float, float, float], tuple[float, float, float]]:
        c1, c2, c3 = (c * t for c, t in zip(self._centres, turn, strict=True))
        rod, second = self._rods[0] * turn[0], self._rods[1] * turn[1]
        base = UPPER.joint.real
        r1 = base + c1.real
        r2 = base + rod.real + c2.real
        r3 = base + rod.real + second.real + c3.real
        u, f, h = UPPER.mass, FORE.mass, HAND.mass
        inertia = TURRET + u * r1 * r1 + f * r2 * r2 + h * r3 * r3
        inertia += UPPER.inertia + FORE.inertia + HAND.inertia
        s1 = 2 * (u * r1 * c1.imag + (f * r2 + h * r3) * rod.imag)
        s2 = 2 * (f * r2 * c2.imag + h * r3 * second.imag)
        s3 = 2 * h * r3 * c3.imag
        half = pan * pan / 2
        return (inertia, s1, s2, s3), (half * s1, half * s2, half * s3)
