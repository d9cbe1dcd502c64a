"""Arm behind the servos.

In a step the links' new velocity v and the motors' w obey

    M (v − v₀)/dt = c + h₀ − (h₁ + s₁) v − bias,      c = c₀ + c₁ (w − v)
    J (w − w₀)/dt = τ − b w − friction − c

with torque c through the gear, h of the hand and s of the stops, integrated implicitly.
Without w: (M + dt D) a = … − bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vec = NDArray[np.float64]

TWIST = 0.01  # chosen: of a gear under its stall torque [rad]
DULLNESS = 0.002  # chosen: damping of that spring by its stiffness [s]; about 0.3
STOP_STIFFNESS = 20.0  # chosen: a hard edge for a hand [N·m/rad]
STOP_DAMPING = 0.2  # chosen: no bounce [N·m·s/rad]
LINK_DAMPING = 1e-4  # chosen: bearings, cables [N·m·s/rad]
CREEP = 0.02  # chosen: below this speed dry friction is viscous [rad/s]
LOOSE_LINK = 1e-4  # chosen: inertia of a link where there is no model [kg·m²]
FAR = 1e6  # chosen: no stop [rad]


@dataclass(frozen=True, slots=True)
class Drives:
    """Motors and gears, shape (n,).

    Attributes:
        inertia: Rotor and gear, [kg·m²].
        viscous: [N·m·s/rad].
        coulomb: [N·m].
        play: Whole, [rad].
        stall_torque: Sets the gear's stiffness, [N·m].
        drag: Behind the backlash, [N·m].
    """

    inertia: Vec
    viscous: Vec
    coulomb: Vec
    play: Vec
    stall_torque: Vec
    drag: Vec


class Links(Protocol):
    """Rigid bodies of one arm; joint limits (n,), [rad]."""

    lower: Vec
    upper: Vec

    def accelerate(self, q: Vec, dq: Vec, tau: Vec, added: Vec) -> Vec:
        """Return a (n,) of (M + diag(added)) a = tau − gravity − Coriolis, [rad/s²].

        Units: [rad], [rad/s], [N·m] and [kg·m²].
        """

    def compute_gravity(self, q: Vec) -> Vec:
        """Return the gravity torque, (n,), [N·m]."""

    def measure_reach(self, q: Vec, hand: int) -> Vec:
        """Return joint distances from the hand's joint, (n,), [m]."""


class Arm:
    """One arm in virtual time; vectors have shape (n,).

    The hand is a spring and damper per joint, from the link to ``hand_q``.

    Attributes:
        q: At the encoders, [rad].
        dq: [rad/s].
        motor_q: Before the backlash, [rad].
        motor_dq: [rad/s].
        tau_motor: Last, [N·m].
        tau_hand: Last, [N·m].
        push: External, [N·m].
        hand_q: [rad].
        hand_dq: [rad/s].
        hand_stiffness: [N·m/rad].
        hand_damping: [N·m·s/rad].
        hand_lift: Carried load, [N·m].
        lower: [rad].
        upper: [rad].
        motor_work: [J].
        hand_work: [J].
    """

    def __init__(self, drives: Drives, links: Links | None, q: Vec) -> None:
        n = len(q)
        self.links = links
        self.drives = drives
        self.q, self.dq = q.astype(float), np.zeros(n)
        self.motor_q, self.motor_dq = self.q.copy(), np.zeros(n)
        self.tau_motor, self.tau_hand = np.zeros(n), np.zeros(n)
        self.push = np.zeros(n)
        self.hand_q, self.hand_dq = self.q.copy(), np.zeros(n)
        self.hand_stiffness, self.hand_damping = np.zeros(n), np.zeros(n)
        self.hand_lift = np.zeros(n)
        self.motor_work, self.hand_work = np.zeros(n), np.zeros(n)
        self.lower = links.lower.copy() if links else np.full(n, -FAR)
        self.upper = links.upper.copy() if links else np.full(n, FAR)
        self._gear = drives.stall_torque / TWIST
        self._half = drives.play / 2

    def step(self, tau_motor: Vec, dt: float) -> None:
        """Advance dt [s], a few milliseconds, with motor torques (n,), [N·m]."""
        drives, q, dq = self.drives, self.q, self.dq
        gap = self.motor_q - q
        over = gap - np.minimum(np.maximum(gap, -self._half), self._half)
        c0 = self._gear * over
        c1 = np.where(over, self._gear * (dt + DULLNESS), 0.0)
        h0 = self.hand_stiffness * (self.hand_q - q) + self.hand_damping * self.hand_dq
        h0 = h0 + self.hand_lift
        h1 = self.hand_stiffness * dt + self.hand_damping
        beyond = q - np.minimum(np.maximum(q, self.lower), self.upper)
        s1 = np.where(beyond, STOP_STIFFNESS * dt + STOP_DAMPING, 0.0)

        # The motors: w = slips · (u − friction) with u linear in v. Which of them stick
        # is judged with the old v, then w follows exactly from the new one.
        ease = 1.0 / (drives.inertia / dt + drives.viscous + c1)
        u0 = tau_motor + drives.inertia / dt * self.motor_dq - c0
        u = u0 + c1 * dq
        slips = np.where(np.abs(u) > drives.coulomb, ease, 0.0)
        free = u0 - np.copysign(drives.coulomb, u)

        tau = self.push + c0 + c1 * slips * free + h0 - STOP_STIFFNESS * beyond
        dragged = drives.drag / np.maximum(np.abs(dq), CREEP)
        slope = LINK_DAMPING + dragged + h1 + s1 + c1 - c1 * slips * c1
        v = dq + dt * self._accelerate(tau - slope * dq, dt * slope)
        u = u0 + c1 * v
        w = ease * np.copysign(np.maximum(np.abs(u) - drives.coulomb, 0.0), u)

        self.q, self.dq = q + dt * v, v
        self.motor_q, self.motor_dq = self.motor_q + dt * w, w
        self.tau_motor, self.tau_hand = tau_motor, h0 - h1 * v
        self.motor_work += tau_motor * w * dt
        self.hand_work += self.tau_hand * v * dt

    def _accelerate(self, tau: Vec, added: Vec) -> Vec:
        if self.links is None:
            return tau / (LOOSE_LINK + added)
        return self.links.accelerate(self.q, self.dq, tau, added)
