"""Dynamics by Pinocchio, fifty times faster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from paprle_emulators.servo_rig.links import Links
from paprle_emulators.servo_rig.urdf import Bodies

Vec = NDArray[np.float64]


class PinLinks(Links):
    """Rigid bodies; see ``Links``."""

    def __init__(
        self, urdf: Path, joint_names: Sequence[str], rpy: tuple[float, float, float]
    ) -> None:
        super().__init__(urdf, joint_names, rpy)
        self._model, places = _build(self.bodies)
        self._model.gravity.linear = self.gravity
        self._data = self._model.createData()
        straight = np.array_equal(places, np.arange(len(places)))
        self._places = None if straight else places

    def accelerate(self, q: Vec, dq: Vec, tau: Vec, added: Vec) -> Vec:
        """Return the accelerations; see ``arm.Links``."""
        model, places = self._model, self._places
        if places is None:
            model.armature = added
            a: Vec = pin.aba(model, self._data, q, dq, tau)
            return a
        inside = np.empty((4, len(q)))
        inside[:, places] = q, dq, tau, added
        model.armature = inside[3]
        found: Vec = pin.aba(model, self._data, *inside[:3])[places]
        return found

    def compute_gravity(self, q: Vec) -> Vec:
        """Return the gravity torque, (n,), [N·m]."""
        inside = q
        if self._places is not None:
            inside = np.empty_like(q)
            inside[self._places] = q
        tau: Vec = pin.computeGeneralizedGravity(self._model, self._data, inside)
        return tau.copy() if self._places is None else tau[self._places]


def _build(bodies: Bodies) -> tuple[pin.Model, NDArray[np.intp]]:
    model, ids = pin.Model(), {-1: 0}
    for i in bodies.order:
        kind = (
            pin.JointModelRevoluteUnaligned
            if bodies.turns[i]
            else pin.JointModelPrismaticUnaligned
        )
        X = pin.SE3(bodies.placements[i])
        ids[i] = model.addJoint(ids[bodies.parents[i]], kind(bodies.axes[i]), X, str(i))
        body = pin.Inertia(bodies.masses[i], bodies.centres[i], bodies.inertias[i])
        model.appendBodyToJoint(ids[i], body, pin.SE3.Identity())
    return model, np.array([model.idx_vs[ids[i]] for i in range(len(bodies.order))])
