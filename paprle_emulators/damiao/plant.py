"""Rigid links behind the motors: gravity, friction, finite torques and hard stops.

In a step v follows from (M + J + dt D) (v − v₀)/dt = τ − bias, where D holds all that
damps, so that stiff gains stay stable; the gripper is a flywheel of its own.
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
        q: Positions at the motors, the gripper's last, [rad].
        dq: [rad/s].
        tau: Torque of each motor in the last step, [N·m].
        push: External torque, [N·m].
        is_held: Somebody holds the arm until all its motors hold it once.
    """

    def __init__(self, arm: ArmTable, q: Vec, weight: float) -> None:
        """Put an arm into a posture.

        Args:
            arm: Its table.
            q: Joints at the start, shape (n,), [rad].
            weight: Masses by the published ones.
        """
        kinds = [MOTORS[name] for name in arm.motors]
        self._n = arm.n
        self._links = _make_links(arm, weight)
        self.q = np.append(q, arm.grip[int(np.argmin(np.abs(arm.grip)))])
        self.dq, self.tau = np.zeros((2, arm.n + 1))
        self.push = np.zeros(arm.n + 1)
        self._push_left = np.zeros(arm.n + 1)
        self.is_held = False
        limits = [row.limits for row in arm.rows]
        self._low, self._high = np.array([*limits, arm.grip]).T
        self._peak = np.array([kind.peak for kind in kinds])
        self._inertia = np.array([kind.inertia for kind in kinds])
        self._coulomb = np.array([kind.coulomb for kind in kinds])
        self._viscous = np.array([kind.viscous for kind in kinds])

    def step(self, law: Vec, dt: float) -> None:
        """Advance a step.

        Args:
            law: Rows q_des, dq_des, kp, kd and τ of each motor, shape (5, n + 1).
            dt: [s].
        """
        q_des, dq_des, kp, kd, tau = law
        q, dq = self.q, self.dq
        wanted = kp * (q_des - q - dt * dq) + kd * (dq_des - dq) + tau
        is_bounded = np.abs(wanted) > self._peak
        self.tau = np.clip(wanted, -self._peak, self._peak)
        soft = np.where(is_bounded, 0.0, kd + dt * kp)
        beyond = q - np.clip(q, self._low, self._high)
        hard = np.where(beyond, _STOP_DAMPING + dt * _STOP_STIFFNESS, 0.0)
        drag = self._viscous + self._coulomb / np.maximum(np.abs(dq), _CREEP)
        passive = drag + hard
        total = self.tau + self.push - _STOP_STIFFNESS * beyond - passive * dq
        added = self._inertia + dt * (soft + passive)
        n = self._n
        self.is_held = self.is_held and not (kp[:n] > 0.0).all()
        if self.is_held:
            self.dq = np.zeros(n + 1)
            return
        a = np.empty_like(q)
        a[:n] = self._links.accelerate(q[:n], dq[:n], total[:n], added[:n])
        a[n] = total[n] / (_GRIP_INERTIA + added[n])
        self.dq = dq + dt * a
        self.q = q + dt * self.dq
        self._push_left = np.maximum(self._push_left - dt, 0.0)
        self.push = np.where(self._push_left > 0.0, self.push, 0.0)

    def knock(self, joint: int, torque: float, time: float = _PUSH) -> None:
        """Push a joint (from 0) with a torque [N·m] for a time [s]."""
        self.push[joint], self._push_left[joint] = torque, time

    def compute_gravity(self) -> Vec:
        """Return the arm's gravity torque, shape (n,), [N·m]."""
        return self._links.compute_gravity(self.q[: self._n])


def _make_links(arm: ArmTable, weight: float) -> Links:
    """Return the dynamics, by Pinocchio where it is installed."""
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
