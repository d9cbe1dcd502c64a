"""Rigid links behind the motors, with friction and hard stops.

In a step v follows from (M + J + dt D) (v − v₀)/dt = τ − bias, where D holds all
damping, for stability at stiff gains; the gripper is a flywheel of its own.
"""

from __future__ import annotations

import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from paprle_emulators.damiao.models import MOTORS, ArmTable, write_urdf
from paprle_emulators.servo_rig.links import Links

Vec = NDArray[np.float64]

_CREEP = 0.01  # [rad/s] chosen: below this speed dry friction is viscous
_STOP_STIFFNESS = 500.0  # [N·m/rad] chosen: metal on rubber
_STOP_DAMPING = 10.0  # [N·m·s/rad] chosen: no bounce
_GRIP_INERTIA = 0.002  # [kg·m²] chosen: rotor, rack and fingers at the motor
_PUSH = 0.05  # [s] chosen: a knock


class Plant:
    """An arm and its gripper in virtual time; vectors have shape (n + 1,).

    Attributes:
        q: Of motors, the gripper's last, [rad].
        dq: [rad/s].
        tau: Last, [N·m].
        push: External, [N·m].
        is_held: Until all motors have held or carried it.
        hand_q: Its goal, [rad].
        hand_dq: [rad/s].
        hand_stiffness: [N·m/rad]; 0: no hand.
        hand_damping: [N·m·s/rad].
        hand_most: [N·m].
        tau_hand: Last, [N·m].
        hand_work: [J].
    """

    def __init__(self, arm: ArmTable, q: Vec, weight: float) -> None:
        """Start at q (n,), [rad]; ``weight`` scales masses."""
        kinds = [MOTORS[name] for name in arm.motors]
        self._n = arm.n
        self._links = _make_links(arm, weight)
        self.q = np.append(q, arm.grip[int(np.argmin(np.abs(arm.grip)))])
        self.dq, self.tau = np.zeros((2, arm.n + 1))
        self.push = np.zeros(arm.n + 1)
        self._push_left = np.zeros(arm.n + 1)
        self.is_held = False
        self.hand_q, self.hand_dq, self.hand_stiffness = np.zeros((3, arm.n + 1))
        self.hand_damping, self.hand_most = np.zeros((2, arm.n + 1))
        self.tau_hand, self.hand_work = np.zeros((2, arm.n + 1))
        limits = [row.limits for row in arm.rows]
        self._limits = (*limits, arm.grip)
        self._low, self._high = np.array(self._limits).T.copy()
        self._peak = np.array([kind.peak for kind in kinds])
        self._inertia = np.array([kind.inertia for kind in kinds])
        self._coulomb = np.array([kind.coulomb for kind in kinds])
        self._viscous = np.array([kind.viscous for kind in kinds])

    def step(self, law: Vec, dt: float) -> None:
        """Advance dt [s] by rows q_des, dq_des, kp, kd and τ, (5, n + 1)."""
        q_des, dq_des, kp, kd, tau = law
        q, dq = self.q, self.dq
        wanted = kp * (q_des - q - dt * dq) + kd * (dq_des - dq) + tau
        is_bounded = np.abs(wanted) > self._peak
        self.tau = np.clip(wanted, -self._peak, self._peak)
        soft = np.where(is_bounded, 0.0, kd + dt * kp) + self._pull(dt)
        beyond = q - np.clip(q, self._low, self._high)
        hard = np.where(beyond, _STOP_DAMPING + dt * _STOP_STIFFNESS, 0.0)
        drag = self._viscous + self._coulomb / np.maximum(np.abs(dq), _CREEP)
        passive = drag + hard
        total = (
            self.tau
            + self.push
            + self.tau_hand
            - _STOP_STIFFNESS * beyond
            - passive * dq
        )
        added = self._inertia + dt * (soft + passive)
        n = self._n
        # no frame's torque is 0, which lies between two steps: carried arms have some
        self.is_held = self.is_held and not ((kp > 0.0) | (tau != 0.0))[:n].all()
        if self.is_held:
            self.dq = np.zeros(n + 1)
            return
        a = np.empty_like(q)
        a[:n] = self._links.accelerate(q[:n], dq[:n], total[:n], added[:n])
        a[n] = total[n] / (_GRIP_INERTIA + added[n])
        self.dq = dq + dt * a
        self.q = q + dt * self.dq
        self.hand_work = self.hand_work + dt * self.tau_hand * self.dq
        self._push_left = np.maximum(self._push_left - dt, 0.0)
        self.push = np.where(self._push_left > 0.0, self.push, 0.0)

    def _pull(self, dt: float) -> Vec:
        """Return the damping of the hand's spring, [N·m·s/rad]."""
        stiffness, damping = self.hand_stiffness, self.hand_damping
        way = self.hand_q - self.q - dt * self.dq
        pull = stiffness * way + damping * (self.hand_dq - self.dq)
        self.tau_hand = np.clip(pull, -self.hand_most, self.hand_most)
        is_bounded = np.abs(pull) > self.hand_most
        return np.where(is_bounded, 0.0, damping + dt * stiffness)

    def block(self, joint: int, low: float, high: float) -> None:
        """Put obstacles in a joint's (from 0) way, [rad]."""
        own_low, own_high = self._limits[joint]
        self._low[joint], self._high[joint] = max(low, own_low), min(high, own_high)

    def knock(self, joint: int, torque: float, time: float = _PUSH) -> None:
        """Push a joint (from 0), [N·m], for a time [s]."""
        self.push[joint], self._push_left[joint] = torque, time

    def measure_reach(self) -> Vec:
        """Return each joint's distance from the last, (n,), [m]."""
        return self._links.measure_reach(self.q[: self._n], self._n - 1)

    def compute_gravity(self) -> Vec:
        """Return the gravity torque, (n,), [N·m]."""
        return self._links.compute_gravity(self.q[: self._n])


def _make_links(arm: ArmTable, weight: float) -> Links:
    kind = Links
    if find_spec("pinocchio") is not None:
        from paprle_emulators.servo_rig.pin_links import (  # noqa: PLC0415 - optional
            PinLinks,
        )

        kind = PinLinks
    names = [f"joint{k}" for k in range(1, arm.n + 1)]
    with tempfile.TemporaryDirectory(prefix="damiao-") as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(write_urdf(arm, weight), encoding="utf-8")
        return kind(path, names, arm.base_rpy)
