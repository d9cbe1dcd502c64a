"""Description of an arm in words, from the base to the hand, at zero.

It is a walk such as ``up 60, yaw, up 50, lift pitch, up 116 forward 28``. A step is a
way [mm] along forward, left and up, seen from behind the base, or a joint: its name,
axis, and sense of its positive turn.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paprle.contracts.errors import ConfigError

Triple = tuple[float, float, float]

AXES: Mapping[str, tuple[Triple, str, str]] = {
    "yaw": ((0.0, 0.0, 1.0), "left", "right"),
    "pitch": ((0.0, 1.0, 0.0), "down", "up"),
    "roll": ((1.0, 0.0, 0.0), "right", "left"),
}
"""Axis of each word, and the words for its positive and negative sense."""

GRIPPER = "gripper"
FORM = (
    "steps from the base to the hand, such as: up 60, yaw, up 50, lift pitch, up 110 "
    "forward 30, elbow pitch up, forward 130, wrist pitch, forward 60, roll, forward "
    "90, gripper; [mm]; an axis is yaw, pitch or roll"
)
_WAYS: Mapping[str, Triple] = {
    "forward": (1.0, 0.0, 0.0),
    "back": (-1.0, 0.0, 0.0),
    "left": (0.0, 1.0, 0.0),
    "right": (0.0, -1.0, 0.0),
    "up": (0.0, 0.0, 1.0),
    "down": (0.0, 0.0, -1.0),
}
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_LONGEST = 2000.0  # [mm] chosen: no arm's link is longer
_MOST_GEAR = 100.0  # spec: that of a puppeteer's settings


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedJoint:
    """A joint of a described arm.

    Attributes:
        xyz: From the joint before, or the base, at zero, [m].
        axis: Of its positive turn, in the base's axes at zero.
        gear: Servo turns per turn; None: to be found.
    """

    name: str
    xyz: Triple
    axis: Triple
    gear: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedArm:
    """A described arm; ``hand``: held place from the last joint, [m]."""

    joints: tuple[DescribedJoint, ...]
    hand: Triple
    has_gripper: bool


def read_words(text: str) -> DescribedArm:
    """Return the arm of a description.

    Raises:
        ConfigError: Listing invalid steps.
    """
    steps = [step.split() for step in re.split(r"[,;\n]+", text.lower())]
    joints: list[DescribedJoint] = []
    problems: list[str] = []
    way: Triple = (0.0, 0.0, 0.0)
    has_gripper = False
    for words in [words for words in steps if words]:
        if has_gripper:
            problems.append(f"words: '{' '.join(words)}': expected the gripper last")
            continue
        try:
            if words == [GRIPPER]:
                has_gripper = True
            elif words[0] in _WAYS:
                way = _add(way, _read_way(words))
            else:
                joints.append(_read_joint(words, way, len(joints)))
                way = (0.0, 0.0, 0.0)
        except ValueError as err:
            problems.append(f"words: '{' '.join(words)}': {err}")
    problems += _judge(joints)
    if problems:
        raise ConfigError([*problems, f"words: expected {FORM}"])
    return DescribedArm(joints=tuple(joints), hand=way, has_gripper=has_gripper)


def _judge(joints: Sequence[DescribedJoint]) -> list[str]:
    names = [joint.name for joint in joints]
    twice = sorted({name for name in names if names.count(name) > 1})
    found = [f"words: expected names of their own, got {name} twice" for name in twice]
    return found if joints else [*found, "words: expected joints, got none"]


def _read_way(words: Sequence[str]) -> Triple:
    """Return a way [m] of ``up 116 forward 28``."""
    words = [word for word in words if word != "mm"]
    if len(words) % 2:
        raise ValueError("expected a direction and millimetres, each in turn")
    way: Triple = (0.0, 0.0, 0.0)
    for direction, number in zip(words[::2], words[1::2], strict=True):
        if direction not in _WAYS:
            raise ValueError(f"expected one of {', '.join(_WAYS)}, got '{direction}'")
        far = _read_number(number.removesuffix("mm"), _LONGEST)
        x, y, z = _WAYS[direction]
        way = _add(way, (1e-3 * far * x, 1e-3 * far * y, 1e-3 * far * z))
    return way


def _read_number(word: str, most: float) -> float:
    try:
        number = float(word)
    except ValueError:
        number = -1.0
    if not 0.0 < number <= most:
        raise ValueError(f"expected a number above 0, up to {most:g}, got '{word}'")
    return number


def _read_joint(words: Sequence[str], xyz: Triple, index: int) -> DescribedJoint:
    """Return the joint of ``elbow pitch up gear 2``."""
    left = list(words)
    is_named = left[0] not in AXES or (len(left) > 1 and left[1] in AXES)
    name = left.pop(0) if is_named else f"joint{index + 1}"
    if not left or left[0] not in AXES:
        got = left[0] if left else name
        raise ValueError(f"expected an axis: {', '.join(AXES)}, got '{got}'")
    if not _NAME.fullmatch(name) or name == GRIPPER:
        raise ValueError(f"expected a name of letters and digits, got '{name}'")
    axis, plus, minus = AXES[left.pop(0)]
    if left and left[0] in {plus, minus}:
        sense = 1.0 if left.pop(0) == plus else -1.0
        axis = (sense * axis[0], sense * axis[1], sense * axis[2])
    gear = None
    if left[:1] == ["gear"] and len(left) > 1:
        gear = _read_number(left[1], _MOST_GEAR)
        left = left[2:]
    if left:
        raise ValueError(
            f"expected {plus} or {minus}, or gear and a number, got '{' '.join(left)}'"
        )
    return DescribedJoint(name=name, xyz=xyz, axis=axis, gear=gear)


def _add(one: Triple, other: Triple) -> Triple:
    return (one[0] + other[0], one[1] + other[1], one[2] + other[2])
