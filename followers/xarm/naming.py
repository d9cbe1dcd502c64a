"""Names of robots that fit a control box's arm."""

from __future__ import annotations

from collections.abc import Mapping

from paprle.contracts.types import Vec
from paprle.hardware.xarm.identity import Identity

_KINDS: Mapping[str, tuple[int, frozenset[int]]] = {
    "xarm5": (5, frozenset({5})),
    "xarm6": (6, frozenset({6})),
    "xarm7": (7, frozenset({7})),
    "lite6": (6, frozenset({9})),
    "xarm850": (6, frozenset({12})),
}  # spec: xarm-python-sdk, axis and type; others have other signs or zeros
_EDGE = 1e-3  # [rad] chosen: limits are published in whole degrees


def find_other_model(robot: str, found: Identity) -> str:
    """Return a contradiction of robot name and box, or "".

    A ``follower=`` name without a model fits all.
    """
    name = robot.partition("_")[0]
    if name not in _KINDS:
        return ""
    axis, kinds = _KINDS[name]
    if found.axis == axis and found.kind in kinds:
        return ""
    known = {(a, k): model for model, (a, ks) in _KINDS.items() for k in ks}
    got = known.get((found.axis, found.kind), f"type {found.kind}")
    return f"expected the control box of '{name}', got one of {got}"


def find_tighter(names: tuple[str, ...], q_min: Vec, q_max: Vec, limits: Vec) -> str:
    """Return settings that tighten limits to the arm's, or "".

    The robot's are (n,), the arm's (n, 2), [rad]; (0, 2): unknown.
    """
    words = []
    for name, low, high, own in zip(names, q_min, q_max, limits, strict=False):
        if low < own[0] - _EDGE:
            words.append(f"follower.limits.q_min.{name}={own[0]:.4f}")
        if high > own[1] + _EDGE:
            words.append(f"follower.limits.q_max.{name}={own[1]:.4f}")
    return " ".join(words)
