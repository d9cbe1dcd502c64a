"""Limbs of an undescribed URDF: chains of actuated joints from branching to end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from paprle.contracts.settings.core import GripperSettings, LimbSettings
from paprle.robot.discovery.grippers import find_fingers, guess_gripper
from paprle.robot.discovery.limb_names import HEAD, LEG, find_place, split_words
from paprle.robot.discovery.moving_base import find_base_joints
from paprle.robot.tree import Urdf

_WHEEL = re.compile(r"wheel|caster|rotor|propeller", re.IGNORECASE)
_NO_TOOL = re.compile(
    r"camera|optical|imu|inertia|sensor|accelerometer|led|range|laser|visual|collision"
    r"|plugin|(^|_)ft(_|$)|transmission|marker",
    re.IGNORECASE,
)
_TOOLS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"tcp|tool_?cent(er|re)|grasp(ing)?_?(frame|point|link|target|cent(er|re))",
        r"tool0|tool_?(frame|link|tip)|end_?effector(?!_flange)|(^|[_/])eef?([_/]|$)|ee_?link",
        r"gripper_?(frame|base|main|stator|palm)|palm|sole|foot(?!print)",
        r"hand|gripper|tool|flange|tip$",
    )
)
_LONG = 4  # chosen: joints of a chain beside which chains of one or two are no limbs


@dataclass(slots=True, kw_only=True)
class FoundLimb:
    """A found limb, with doubts by setting."""

    name: str
    base_link: str
    eef_link: str
    joint_names: tuple[str, ...]
    gripper: GripperSettings | None = None
    doubts: dict[str, str] = field(default_factory=dict)


class ActuatedTree:
    """Tree of actuated joints; ``without`` are cut off, ``still`` count as fixed."""

    def __init__(
        self, urdf: Urdf, without: Iterable[str] = (), still: Iterable[str] = ()
    ) -> None:
        cut, fixed = set(without), set(still)
        self.above: dict[str, str | None] = {}
        self.owner: dict[str, str | None] = {urdf.root: None}
        for joint in urdf.joints:
            copies_cut = joint.mimic is not None and joint.mimic.source in cut
            if joint.parent not in self.owner or joint.name in cut or copies_cut:
                continue
            owner = self.owner[joint.parent]
            if joint.is_actuated and joint.name not in fixed:
                self.above[joint.name] = owner
                owner = joint.name
            self.owner[joint.child] = owner

    def below(self, name: str | None) -> list[str]:
        """Return the joints next below one, or the root."""
        return [joint for joint, above in self.above.items() if above == name]

    def chain_to(self, leaf: str) -> tuple[str, ...]:
        """Return the joints from the last branching to a joint.

        A head on an arm is no branching: ``right_j0`` below ``right_j1``.
        """
        chain = [leaf]
        above = self.above[leaf]
        while above is not None and self._goes_on(above, chain[-1]):
            chain.append(above)
            above = self.above[above]
        return tuple(reversed(chain))

    def _goes_on(self, above: str, joint: str) -> bool:
        others = [name for name in self.below(above) if name != joint]
        are_heads = all(HEAD.search(name) for name in others)
        return not others or (are_heads and _stem(above) == _stem(joint))


def discover_limbs(urdf: Urdf) -> dict[str, LimbSettings]:
    """Return settings of a robot's limbs, by name."""
    return {
        limb.name: LimbSettings(
            base_link=limb.base_link,
            eef_link=limb.eef_link,
            joints=limb.joint_names,
            gripper=limb.gripper,
        )
        for limb in find_limbs(urdf)
    }


def find_limbs(urdf: Urdf) -> list[FoundLimb]:
    """Return the limbs of a robot, with doubts."""
    wheels = find_wheels(urdf)
    fingers = find_fingers(urdf)
    base = find_base_joints(urdf)
    tree = ActuatedTree(urdf, wheels | fingers, base)
    if not tree.above and len(_list_leaves(ActuatedTree(urdf, wheels, base))) == 1:
        fingers = set()  # a robot of one finger is an arm
        tree = ActuatedTree(urdf, wheels, base)
    leaves = _list_leaves(tree)
    chains = _without_heads([tree.chain_to(leaf) for leaf in leaves])
    names = name_limbs(chains)
    found = []
    for name, chain in zip(names, chains, strict=True):
        found.append(_make_limb(urdf, tree, name, chain, fingers))
    return found


def _list_leaves(tree: ActuatedTree) -> list[str]:
    return [name for name in tree.above if not tree.below(name)]


def find_wheels(urdf: Urdf) -> set[str]:
    """Return joints that only turn wheels or rotors."""
    wheels: set[str] = set()
    bearing: set[str] = set()  # links that carry something which is no wheel
    for joint in reversed(urdf.joints):
        is_named = bool(_WHEEL.search(joint.name) or _WHEEL.search(joint.child))
        if is_named and joint.kind != "prismatic" and joint.child not in bearing:
            wheels.add(joint.name)
        elif joint.is_actuated or joint.child in bearing:
            bearing.add(joint.parent)
    return wheels


def _without_heads(chains: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    longest = max((len(chain) for chain in chains), default=0)
    limbs = [
        chain
        for chain in chains
        if not any(HEAD.search(name) for name in chain)
        and not (len(chain) <= 2 and longest >= _LONG)
    ]
    return limbs or chains


def _make_limb(
    urdf: Urdf, tree: ActuatedTree, name: str, chain: tuple[str, ...], fingers: set[str]
) -> FoundLimb:
    tip = [link for link, owner in tree.owner.items() if owner == chain[-1]]
    own_fingers = [
        j
        for j in urdf.joints
        if j.name in fingers and j.parent in tip and j.is_actuated
    ]
    palms = [
        j.parent
        for j in urdf.joints
        if j.parent in tip and (j.name in fingers or j in own_fingers)
    ]
    eef_link, is_telling = _eef_link(
        tip, palms[0] if palms else _farthest(urdf, tip, chain[-1])
    )
    limb = FoundLimb(
        name=name,
        base_link=_base_link(urdf, tree, chain[0]),
        eef_link=eef_link,
        joint_names=chain,
    )
    if not is_telling:
        limb.doubts["eef_link"] = (
            "no link has the name of a tool; this is the last or farthest one"
        )
    if own_fingers:
        limb.gripper, doubt = guess_gripper(urdf, own_fingers)
        if doubt:
            limb.doubts["gripper"] = doubt
    return limb


def _base_link(urdf: Urdf, tree: ActuatedTree, first: str) -> str:
    link = urdf.joint(first).parent
    others = [name for name in tree.below(tree.above[first]) if name != first]
    shared = {
        j.parent for name in others for j in urdf.chain_to(urdf.joint(name).child)
    }
    above: str = link
    while above in urdf.parent_joint and not urdf.parent_joint[above].is_movable:
        above = urdf.parent_joint[above].parent
        if above in shared:
            break
        if above.endswith("base_link"):
            return above
    return link


def _farthest(urdf: Urdf, tip: list[str], last: str) -> str:
    best, farthest = urdf.joint(last).child, 1e-3  # chosen: [m] nearer is the same
    for link in tip:
        T_last_link = pin.SE3.Identity()
        for joint in reversed(urdf.chain_to(link)):
            if joint.name == last:
                break
            T_last_link = joint.T_parent_child(0.0) * T_last_link
        distance = float(np.linalg.norm(T_last_link.translation))
        if distance > farthest and not _NO_TOOL.search(link):
            best, farthest = link, distance
    return best


def _eef_link(tip: list[str], fallback: str) -> tuple[str, bool]:
    for pattern in _TOOLS:
        named = [
            link for link in tip if pattern.search(link) and not _NO_TOOL.search(link)
        ]
        if named:
            return (fallback if fallback in named else named[0]), True
    return fallback, False


def name_limbs(chains: list[tuple[str, ...]]) -> list[str]:
    """Return a chain's name: side and kind, prefix, or number."""
    letters = {"l", "r"} if len(chains) == 1 else set()  # r1 may mean revolute
    names = [_name(chain, letters) for chain in chains]
    if len(set(names)) < len(names):
        prefixes = [_prefix(chain) for chain in chains]
        if all(prefixes) and len(set(prefixes)) == len(prefixes):
            names = prefixes
    counts = Counter(names)
    numbers: Counter[str] = Counter()
    unique = []
    for name in names:
        numbers[name] += 1
        unique.append(f"{name}_{numbers[name]}" if counts[name] > 1 else name)
    return unique


def _name(chain: tuple[str, ...], meaningless: set[str]) -> str:
    words = [set(split_words(name)) - meaningless for name in chain]
    sides = Counter(
        place for name in words for word in name if (place := find_place(word))
    )
    side, count = sides.most_common(1)[0] if sides else ("", 0)
    kind = "leg" if any(LEG & name for name in words) else "arm"
    return f"{side}_{kind}" if 2 * count >= len(chain) else kind


def _stem(name: str) -> str:
    return re.sub(r"\d+", "", name)


def _prefix(chain: tuple[str, ...]) -> str:
    prefixes = {name.rpartition("/")[0] for name in chain}
    return prefixes.pop().replace("/", "_") if len(prefixes) == 1 else ""
