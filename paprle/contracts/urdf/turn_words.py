"""Words for the positive turn of a joint."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin

from paprle.contracts.types import Vec
from paprle.contracts.urdf.models import make_pin_model

_SIDES = (("back", "forward"), ("to its right", "to its left"), ("down", "up"))
_LEVER = 0.03  # [m] chosen: a hand nearer to the axis is turned rather than moved


def describe_turns(
    urdf: Path | str, joints: Sequence[str], eef_link: str, q: Mapping[str, float]
) -> dict[str, str]:
    """Return the hand's motion by each joint's positive turn, base to hand.

    The operator holds ``eef_link``; ``q``, [rad], is the posture, zero where absent.

    Raises:
        ValueError: If the URDF has no such joint or link.
    """
    model = make_pin_model(urdf)
    data, full = model.createData(), pin.neutral(model)
    unknown = [name for name in joints if not model.existJointName(name)]
    if unknown or not model.existFrame(eef_link):
        raise ValueError(
            f"expected a URDF with {', '.join(unknown) or eef_link}, got none"
        )
    for name, position in q.items():
        full[model.joints[model.getJointId(name)].idx_q] = position
    frame = model.getFrameId(eef_link)
    jacobian = pin.computeFrameJacobian(
        model, data, full, frame, pin.LOCAL_WORLD_ALIGNED
    )
    hand = data.oMf[frame].translation
    words = {}
    for name in joints:
        joint = model.getJointId(name)
        turn = jacobian[:, model.joints[joint].idx_v]
        words[name] = _describe(turn[:3], turn[3:], hand - data.oMi[joint].translation)
    return words


def reverse(words: str) -> str:
    """Return the words for the other sense of a turn."""
    pairs = (*_SIDES, ("counter-clockwise", "clockwise"))
    for one, other in pairs:
        for here, there in ((one, other), (other, one)):
            if re.search(rf"\b(?<!-){here}\b", words):
                return re.sub(rf"\b(?<!-){here}\b", there, words)
    return words


def _describe(moved: Vec, turned: Vec, reach: Vec) -> str:
    if np.linalg.norm(moved) < _LEVER:
        sense = "clockwise" if turned @ reach > 0.0 else "counter-clockwise"
        return f"the hand turns {sense}, as seen from the arm"
    axis = int(np.abs(moved).argmax())
    return f"the hand moves {_SIDES[axis][int(moved[axis] > 0.0)]}"
