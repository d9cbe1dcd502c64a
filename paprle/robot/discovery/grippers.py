"""Detection of fingers and of the joint that opens the gripper."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from paprle.contracts.settings.core import GripperSettings
from paprle.contracts.types import Vec
from paprle.robot.discovery.limb_names import have_legs
from paprle.robot.tree import Urdf, UrdfJoint, flat_mimics

_FINGER = re.compile(
    r"finger|gripper|jaw|thumb|knuckle|claw|pinky|trigger|pinch"
    r"|(^|[^a-z])(index|middle|ring|little)([^a-z]|$)",
    re.IGNORECASE,
)
_WRIST = re.compile(r"roll|pitch|yaw|rotat|wrist", re.IGNORECASE)
_ARM_JOINTS = 4  # chosen: an arm has so many joints before its chain forks to fingers
_FINGER_LENGTH = 0.25  # chosen: [m] from the first joint; longer than any finger
_FINGER_JOINTS = 6  # chosen: five of a thumb, and one
_APART = 1e-4  # chosen: [m] of difference that tells open from closed


def find_fingers(urdf: Urdf) -> set[str]:
    """Return the actuated joints that move fingers."""
    joints = {j.name: j for j in urdf.joints if j.is_actuated}
    above = {name: _actuated_above(urdf, joint) for name, joint in joints.items()}
    named = {j.name for j in joints.values() if _is_named_finger(j)}
    fingers = named | _mimicked_by_siblings(urdf) | _forks(above)
    fingers |= _find_hands(joints, above, named)
    # A finger has only fingers behind it; otherwise it is a joint of the arm.
    for name in reversed(list(joints)):
        if name in fingers:
            continue
        parent = above[name]
        while parent is not None and name not in fingers:
            fingers.discard(parent)
            parent = above[parent]
    for name, parent in above.items():
        if parent in fingers:
            fingers.add(name)
    return fingers


def _is_named_finger(joint: UrdfJoint) -> bool:
    by_child = re.search(
        r"finger|fngr|thumb|jaw|trigger|knuckle", joint.child, re.IGNORECASE
    )
    by_name = _FINGER.search(joint.name) and not _WRIST.search(joint.name)
    return bool(by_name or by_child)


def _actuated_above(urdf: Urdf, joint: UrdfJoint) -> str | None:
    link = joint.parent
    while link in urdf.parent_joint:
        above = urdf.parent_joint[link]
        if above.is_actuated:
            return above.name
        link = above.parent
    return None


def _mimicked_by_siblings(urdf: Urdf) -> set[str]:
    found = set()
    for mimic in flat_mimics(urdf):
        on_way = {j.name for j in urdf.chain_to(urdf.joint(mimic.joint).parent)}
        if mimic.source not in on_way:
            found.add(mimic.source)
    return found


def _forks(above: dict[str, str | None]) -> set[str]:
    below: dict[str | None, list[str]] = {}
    for name, parent in above.items():
        below.setdefault(parent, []).append(name)
    depth: dict[str, int] = {}
    for name in reversed(list(above)):
        depth[name] = 1 + max(
            (depth[child] for child in below.get(name, [])), default=0
        )
    found = set()
    for parent, children in below.items():
        serial, link = 0, parent
        while link is not None and (link == parent or len(below[link]) == 1):
            serial, link = serial + 1, above[link]
        is_hand = serial >= _ARM_JOINTS and all(depth[c] <= serial for c in children)
        if is_hand and len(children) > 1:
            found.update(children)
    return found


def _find_hands(
    joints: dict[str, UrdfJoint], above: dict[str, str | None], named: set[str]
) -> set[str]:
    # Two chains are a hand where one of them is a finger by its name.
    below: dict[str | None, list[str]] = {}
    for name, parent in above.items():
        below.setdefault(parent, []).append(name)
    sizes: dict[str, tuple[float, int]] = {}
    for name in reversed(list(above)):
        children = below.get(name, [])
        length = max((_find_step(joints[c]) + sizes[c][0] for c in children), default=0)
        depth = 1 + max((sizes[c][1] for c in children), default=0)
        sizes[name] = length, depth
    found: set[str] = set()
    for children in below.values():
        length = max(sizes[c][0] for c in children)
        depth = max(sizes[c][1] for c in children)
        is_small = length < _FINGER_LENGTH and depth <= _FINGER_JOINTS
        has_legs = have_legs(t for c in children for t in (c, joints[c].child))
        has_finger = not named.isdisjoint(children)
        is_many = len(children) > 2 and max(sizes[c][1] for c in children) > 1
        if is_small and not has_legs and (is_many or has_finger):
            found.update(children)
    for name, parent in above.items():
        if parent in found:
            found.add(name)
    return found


def _find_step(joint: UrdfJoint) -> float:
    return float(np.linalg.norm(joint.T_parent_joint.translation))


def guess_gripper(
    urdf: Urdf, fingers: Sequence[UrdfJoint]
) -> tuple[GripperSettings | None, str]:
    """Return the guessed gripper, if one or two joints lead, and doubts."""
    sources = [mimic.source for mimic in flat_mimics(urdf)]
    leading = [joint for joint in fingers if joint.name in sources] or list(fingers)
    leading = [joint for joint in leading if joint.kind != "continuous"]
    names = ", ".join(joint.name for joint in fingers)
    if not leading or len(leading) > 2:
        return None, f"no single joint opens it; these hold home: {names}"
    joint = leading[0]
    doubt = f"only {joint.name} of {names} is driven. " if len(fingers) > 1 else ""
    gap = _gap(urdf, joint, joint.upper) - _gap(urdf, joint, joint.lower)
    if math.isfinite(gap) and abs(gap) > _APART:
        is_upper_open = gap > 0
        reason = "open is where the fingers' masses are farther apart"
    else:
        is_upper_open = abs(joint.upper) >= abs(joint.lower)
        reason = "open is the end farther from 0"
    ends = (joint.lower, joint.upper) if is_upper_open else (joint.upper, joint.lower)
    gripper = GripperSettings(joint=joint.name, closed=ends[0], open=ends[1])
    return gripper, f"{doubt}{reason}: is it?"


def _gap(urdf: Urdf, joint: UrdfJoint, q: float) -> float:
    positions = {joint.name: q}
    for mimic in flat_mimics(urdf):
        if mimic.source == joint.name:
            positions[mimic.joint] = mimic.multiplier * q + mimic.offset
    palm_joints = [
        child
        for name in positions
        for child in [urdf.joint(name)]
        if not any(j.name in positions for j in urdf.chain_to(child.parent))
    ]
    sides = [_masses(urdf, side, positions) for side in palm_joints]
    distances = [
        float(np.linalg.norm(p - other))
        for one, two in itertools.combinations(sides, 2)
        for p in one
        for other in two
    ]
    return float(np.mean(distances)) if distances else math.nan


def _masses(urdf: Urdf, first: UrdfJoint, positions: dict[str, float]) -> list[Vec]:
    T_root_parent = pin.SE3.Identity()
    for joint in urdf.chain_to(first.parent):
        T_root_parent = T_root_parent * joint.T_parent_child(
            positions.get(joint.name, 0)
        )
    found = []
    stack = [(first, T_root_parent)]
    while stack:
        joint, T_root = stack.pop()
        T_root = T_root * joint.T_parent_child(positions.get(joint.name, 0.0))
        if joint.child in urdf.inertias:
            found.append(T_root.act(np.array(urdf.inertias[joint.child].centre)))
        stack += [(child, T_root) for child in urdf.child_joints[joint.child]]
    return found
