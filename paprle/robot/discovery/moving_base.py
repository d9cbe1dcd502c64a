"""Joints of a moving base, which hold still."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import numpy as np

from paprle.contracts.types import Vec
from paprle.robot.tree import Urdf, UrdfJoint

_OF_BASE = re.compile(
    r"mobile|odom|planar|virtual|chassis|vehicle|platform|footprint|(^|_)(agv|amr|cart)"
    r"(_|$)|drive|omni|holonomic|locomotion",
    re.IGNORECASE,
)
_BASE_JOINT = re.compile(r"(^|_)(base|root|world|robot|dummy)(_|$)", re.IGNORECASE)
_FLOATING = re.compile(r"virtual|floating|(^|_)(root|world|dummy)(_|$)", re.IGNORECASE)
_UPRIGHT = 0.99  # chosen: [1] cosine within which an axis is upright, or flat
_N_WAYS = 3  # a body floats along three axes, and turns about three
_ROOMY = 20.0  # chosen: [m] no rail is as long


def find_base_joints(urdf: Urdf) -> set[str]:
    """Return the actuated joints that move the robot's base.

    A base slides along the ground and turns upright, or floats freely; rails and
    lifting gantries belong to the arm.
    """
    floating = _find_floating(urdf)
    if floating:
        return floating
    run = _list_first(urdf)
    slides = [joint for joint, axis in run if joint.kind == "prismatic"]
    if len(slides) > 2 or not slides:
        return set()
    if len(slides) == 1 and not _is_of_base(slides[0]) and not _is_roomy(slides[0]):
        return set()
    last = max(k for k, (joint, _) in enumerate(run) if joint.kind == "prismatic")
    found = [joint for joint, _ in run[: last + 1]]
    for k, (joint, _) in enumerate(run[last + 1 :], last + 1):
        turns_again = k + 1 < len(run)
        if joint.kind == "continuous" or _is_of_base(joint) or turns_again:
            found.append(joint)
            break
        break
    return {joint.name for joint in found}


def _find_floating(urdf: Urdf) -> set[str]:
    """Return three slides, named or without bounds, and the named turns beside them."""
    found: list[str] = []
    n_slides = 0
    for joint, _ in _list_chain(urdf):
        slides = joint.kind == "prismatic"
        is_named = _FLOATING.search(joint.name) is not None
        if not is_named and not (slides and _is_roomy(joint)):
            break
        found.append(joint.name)
        n_slides += slides
    is_floating = n_slides == _N_WAYS and len(found) <= 2 * _N_WAYS
    return set(found) if is_floating else set()


def _list_first(urdf: Urdf) -> list[tuple[UrdfJoint, Vec]]:
    # Nothing is returned where a third slide lifts them: that is a gantry.
    run: list[tuple[UrdfJoint, Vec]] = []
    for joint, axis in _list_chain(urdf):
        is_upright = abs(axis[2]) > _UPRIGHT
        slides = joint.kind == "prismatic"
        if slides and is_upright and len(run) > 1:
            return []
        if slides == is_upright or (slides and abs(axis[2]) > 1.0 - _UPRIGHT):
            return run
        run.append((joint, axis))
    return run


def _list_chain(urdf: Urdf) -> Iterator[tuple[UrdfJoint, Vec]]:
    """Yield actuated joints and their axes at zero from the root to the first fork."""
    R, link = np.eye(3), urdf.root
    while True:
        moving = [j for j in urdf.child_joints[link] if _carries(urdf, j)]
        if len(moving) != 1:
            return
        joint = moving[0]
        R = R @ joint.T_parent_joint.rotation
        axis, link = R @ joint.axis, joint.child
        if joint.is_actuated:
            yield joint, axis


def _carries(urdf: Urdf, joint: UrdfJoint) -> bool:
    stack = [joint]
    while stack:
        one = stack.pop()
        if one.is_actuated:
            return True
        stack += urdf.child_joints[one.child]
    return False


def _is_of_base(joint: UrdfJoint) -> bool:
    told = (joint.name, joint.child)
    return bool(any(map(_OF_BASE.search, told)) or _BASE_JOINT.search(joint.name))


def _is_roomy(joint: UrdfJoint) -> bool:
    return not math.isfinite(joint.upper) or joint.upper - joint.lower > _ROOMY
