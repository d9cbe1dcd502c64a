"""Side and kind of a limb, by names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from paprle.contracts.types import LimbInfo

HEAD = re.compile(r"head|neck|eye|camera|laser|lidar|velodyne|sensor", re.IGNORECASE)
LEG = {"leg", "hip", "knee", "ankle", "thigh", "calf", "shank"}
LEG |= {"lleg", "rleg", "haa", "hfe", "kfe"}
_CORNERS = ("fl", "fr", "hl", "hr", "rl", "rr", "lf", "rf", "lh", "rh")
_PARTS = (
    "arm|hand|leg|foot|wrist|gripper|limb|finger|shoulder|elbow|manipulator|tool|tcp|ee"
    "|eef|effector"
)
_SIDED = re.compile(
    rf"(?P<before>left|right|l|r)(?:{_PARTS})?|(?:{_PARTS})(?P<after>left|right)"
)
_NUMBERED = re.compile(r"(?<![a-zA-Z])[lrLR](?=_?\d)")  # l1: left, or link 1
_LATERAL = {name: "left" if "l" in name[:2] else "right" for name in _CORNERS}


def split_words(name: str) -> list[str]:
    """Return the lowercase words of ``left_hip``, ``LHip``, ``LF_HFE``."""
    parts = re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+", name)
    return [part.lower() for part in parts]


def find_place(word: str) -> str:
    """Return ``left``, ``right``, a quadruped's corner, or ""."""
    if word in _CORNERS:
        return word
    sided = _SIDED.fullmatch(word)
    letter = (sided["before"] or sided["after"])[0] if sided else ""
    return {"l": "left", "r": "right"}.get(letter, "")


def find_side(name: str) -> str:
    """Return ``left`` or ``right``; empty for neither or both.

    Letters count between separators (``l_arm``, ``LArm``), not before a number.
    """
    spaced = _NUMBERED.sub(" ", name)
    places = {find_place(word) for word in split_words(spaced)} - {""}
    sides = {_LATERAL.get(place, place) for place in places}
    return sides.pop() if len(sides) == 1 else ""


def find_sides(limbs: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Return each limb's side, by its joints if needed, or ""."""
    sides = {name: find_side(name) or _find_twin_side(name, limbs) for name in limbs}
    by_joints = {
        name: told.pop()
        for name, joints in limbs.items()
        if len(told := {find_side(joint) for joint in joints}) == 1
    }
    if len(set(by_joints.values())) > 1:
        sides = {name: side or by_joints.get(name, "") for name, side in sides.items()}
    return sides


def _find_twin_side(name: str, limbs: Iterable[str]) -> str:
    """Return the side that a letter before a number means beside its twin."""
    for match in _NUMBERED.finditer(name):
        letter = match[0]
        twin = {"l": "r", "r": "l", "L": "R", "R": "L"}[letter]
        if name[: match.start()] + twin + name[match.end() :] in limbs:
            return "left" if letter in "lL" else "right"
    return ""


def find_kind(name: str, joints: Iterable[str] = ()) -> str:
    """Return ``leg``, ``head`` (or sensor carrier) or ``arm``."""
    if any(LEG & set(split_words(text)) for text in (name, *joints)):
        return "leg"
    return "head" if HEAD.search(name) else "arm"


def have_legs(names: Iterable[str]) -> bool:
    """Return whether names mean legs, or corners of a quadruped."""
    words = {word for name in names for word in split_words(name)}
    return not words.isdisjoint(LEG) or len(words & set(_CORNERS)) > 1


def is_leg(limb: LimbInfo) -> bool:
    """Return whether a limb carries the robot."""
    return find_kind(limb.name, limb.joint_names) == "leg"
