"""Force arrows of hands."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import viser

from paprle.contracts.types import LimbInfo, Vec
from paprle.observers.view.drawing import palette
from paprle.observers.view.drawing.bodies import Robot

_LEAST = 8.0  # [N] measured: a PiPER in free motion in MuJoCo shows 5; less is hidden
_LENGTH = 0.01  # [m/N] chosen: 30 N is an arm's width across the picture
_LONGEST = 0.4  # [m] chosen
_SHAFT, _HEAD, _HEAD_LENGTH = 0.008, 0.02, 0.035  # [m] chosen: seen beside a hand
_SMOOTH = 0.2  # chosen: share of the newest; a servo's ripple is no contact
_DAMPING = 0.02  # [m] chosen: near a singularity a torque tells of no force


class Forces:
    """The arrows of all limbs."""

    def __init__(
        self, server: viser.ViserServer, robot: Robot, limbs: Iterable[LimbInfo]
    ) -> None:
        self._robot, self._limbs = robot, list(limbs)
        self._felt = {limb.name: np.zeros(3) for limb in self._limbs}
        segment = np.zeros((1, 2, 3), dtype=np.float32)
        self._arrows = {
            limb.name: server.scene.add_arrows(
                f"/force/{limb.name}/arrow",
                segment,
                palette.FORCE,
                shaft_radius=_SHAFT,
                head_radius=_HEAD,
                head_length=_HEAD_LENGTH,
                visible=False,
            )
            for limb in self._limbs
        }
        self._labels = {
            limb.name: server.scene.add_label(
                f"/force/{limb.name}/label", "", visible=False
            )
            for limb in self._limbs
        }

    def show(self, q: Vec, tau: Vec) -> None:
        """Draw the forces of efforts (n,), [N·m] or [N]; NaN: none."""
        for limb in self._limbs:
            force = estimate_force(self._robot, limb, q, tau)
            if force is None:
                self._felt[limb.name] = np.zeros(3)
            else:
                self._felt[limb.name] += _SMOOTH * (force - self._felt[limb.name])
            self._draw(limb)

    def _draw(self, limb: LimbInfo) -> None:
        force, arrow = self._felt[limb.name], self._arrows[limb.name]
        label, size = self._labels[limb.name], float(np.linalg.norm(force))
        arrow.visible = label.visible = size > _LEAST
        if size <= _LEAST:
            return
        tip = self._robot.find(limb.eef_link).translation
        away = force / size * min(_LENGTH * size, _LONGEST)
        arrow.points = np.stack([tip - away, tip])[None].astype(np.float32)
        label.position = tip - away
        label.text = f"{size:.0f} N"


def estimate_force(robot: Robot, limb: LimbInfo, q: Vec, tau: Vec) -> Vec | None:
    """Return the force on a limb's eef, (3,), world axes, [N].

    Solves Jᵀ F = g(q) − τ for the wrench F, damped; None without measured efforts,
    [N·m] or [N]. Positions are in [rad] or [m].
    """
    J, weight, measured = robot.weigh(limb, q, tau)
    missing = weight - measured
    if not np.isfinite(missing).all():
        return None
    # turns weigh as a force at a hand's length does, so that both are of one unit
    scale = np.array([1.0, 1.0, 1.0, 10.0, 10.0, 10.0])
    A = J.T * scale
    wrench = A.T @ np.linalg.solve(A @ A.T + _DAMPING**2 * np.eye(len(A)), missing)
    force: Vec = (wrench * scale)[:3]
    return force
