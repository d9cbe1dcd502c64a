"""Description of a posture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pinocchio as pin

from paprle.contracts.types import Vec
from paprle.contracts.urdf.models import make_pin_model

_WORDS = (("back", "forward"), ("right", "left"), ("down", "up"))
_SHORT = 0.015  # [m] chosen: a shorter way has no direction that a person sees
_SIDE = math.sin(math.radians(22.5))  # chosen: eight directions a turn


def describe_posture(
    urdf: str, joints: Sequence[str], ends: tuple[str, str], q: Mapping[str, float]
) -> list[str]:
    """Return a line for each stretch of an arm in a posture.

    ``joints`` and ``ends`` (links) lead from base to hand; ``q`` in [rad], zero if
    absent.
    """
    model = make_pin_model(urdf)
    data, full = model.createData(), pin.neutral(model)
    for name in joints:
        full[model.joints[model.getJointId(name)].idx_q] = q.get(name, 0.0)
    pin.framesForwardKinematics(model, data, full)
    base = data.oMf[model.getFrameId(ends[0])]
    hand = data.oMf[model.getFrameId(ends[1])]
    places = [("base", base.translation)]
    places += [(n, data.oMi[model.getJointId(n)].translation) for n in joints]
    places.append(("hand", hand.translation))
    lines, last, at = [], *places[0]
    for name, place in places[1:]:
        way = base.rotation.T @ (place - at)
        if np.linalg.norm(way) >= _SHORT:
            lines.append(f"{name} lies {_name_way(way)} of {last}")
            last, at = name, place
    return lines


def _name_way(way: Vec) -> str:
    unit = way / np.linalg.norm(way)
    words = [
        _WORDS[axis][int(unit[axis] > 0.0)]
        for axis in np.argsort(-np.abs(unit))
        if abs(unit[axis]) > _SIDE
    ]
    return " and ".join(words)
