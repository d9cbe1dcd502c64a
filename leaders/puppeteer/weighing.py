"""Torque of a servo by its current, against weight; pure.

    gain · f(I) = J ddq + b dq + c sign(dq) + g(q)

by least squares over all swings, with f for the motor's or the supply's current, by
fit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.types import Vec
from paprle.contracts.urdf.models import make_pin_model
from paprle.hardware.dynamixel.torque_map import Kind, TorqueMap
from paprle.leaders.puppeteer.config import PuppetSettings
from paprle.leaders.puppeteer.friction import smooth

HEAVY = 0.05
"""Weight below which a joint cannot be weighed, [N·m]. chosen: that of dry friction."""

N_POSTURES = 3
"""Postures in which a joint swings. chosen: two numbers and a check."""

_G = 9.81  # spec: standard gravity [m/s²]
_MOVING = 0.05  # [rad/s] chosen: two counts of the velocity's register
_LEAST = 100  # chosen: readings for four unknowns
_EXPLAINED = 0.6  # chosen: share of the weights' variance
_LOWEST, _HIGHEST = 0.25, 4.0  # chosen: bounds of torque_gain
_CLEARER = 0.8  # chosen: a kind that fits no better than so is no other kind


class Swung(NamedTuple):
    """One swing of a joint; arrays (m,).

    Attributes:
        t: [s].
        dq: [rad/s].
        current: In the joint's sense, [A].
        weight: By the URDF, [N·m].
    """

    t: Vec
    dq: Vec
    current: Vec
    weight: Vec


class Scale:
    """Weights of an arm by its URDF."""

    def __init__(self, settings: PuppetSettings, joints: Sequence[str]) -> None:
        whole = make_pin_model(Path(settings.urdf))
        held = [i for i in range(1, whole.njoints) if whole.names[i] not in joints]
        self._model = pin.buildReducedModel(whole, held, pin.neutral(whole))
        self._data = self._model.createData()
        ids = [self._model.getJointId(name) for name in joints]
        self._columns = np.array([self._model.joints[i].idx_v for i in ids])
        pin.framesForwardKinematics(self._model, self._data, pin.neutral(self._model))
        base = self._data.oMf[self._model.getFrameId(settings.base_link)].rotation
        upright = pin.rpy.rpyToMatrix(*settings.base_rpy_xyz_extrinsic)
        self._model.gravity.linear = base @ upright.T @ np.array([0.0, 0.0, -_G])

    def weigh(self, q: Vec) -> Vec:
        """Return the holding torques at q, (n,), [N·m]."""
        full = np.zeros(self._model.nq)
        full[self._columns] = q
        weight = pin.computeGeneralizedGravity(self._model, self._data, full)
        return np.asarray(weight[self._columns])


def fit_torques(model: TorqueMap, swings: Sequence[Swung]) -> TorqueMap:
    """Return kind and gain of a servo's torque.

    Raises:
        ValueError: If the swings do not show it.
    """
    spread = max((float(np.abs(one.weight).max()) for one in swings), default=0.0)
    if spread < HEAVY:
        raise ValueError(
            f"expected a weight of at least {HEAVY} [N·m] in a posture, got "
            f"{spread:.3f} [N·m]; hold the others so that it carries more as it swings"
        )
    plain = model._replace(gain=1.0)
    kinds = (plain, plain._replace(kind=_other(model)))
    (gain, left), (gain_2, left_2) = (_fit(one, swings) for one in kinds)
    if left_2 < _CLEARER * left:
        plain, gain, left = kinds[1], gain_2, left_2
    if left > 1.0 - _EXPLAINED or not _LOWEST <= gain <= _HIGHEST:
        raise ValueError(
            f"expected a torque that explains the weight, got {gain:.2f} times that "
            f"of its model ({100 * (1 - left):.0f} %); keep your hands off, hold the "
            "other joints still, and check the URDF's masses"
        )
    return plain._replace(gain=gain)


def _other(model: TorqueMap) -> Kind:
    return "motor" if model.kind == "supply" else "supply"


def _fit(torques: TorqueMap, swings: Sequence[Swung]) -> tuple[float, float]:
    parts, weights = [], []
    for one in swings:
        made = np.array([torques.find_torque(float(i)) for i in one.current])
        t, dq, made, weight = (smooth(v) for v in (one.t, one.dq, made, one.weight))
        moves = np.abs(dq) > _MOVING
        terms = (made, -np.gradient(dq, t), -dq, -np.sign(dq))
        parts.append(np.stack(terms, axis=1)[moves])
        weights.append(weight[moves])
    A, g = np.concatenate(parts), np.concatenate(weights)
    if len(g) < _LEAST:
        return math.nan, math.inf
    x = np.linalg.lstsq(A, g, rcond=None)[0]
    return float(x[0]), float(np.mean((g - A @ x) ** 2) / max(np.mean(g * g), 1e-12))
