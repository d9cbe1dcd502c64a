"""Guessed settings of a robot."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from paprle.contracts.types import Vec
from paprle.robot.discovery.limbs import FoundLimb
from paprle.robot.discovery.plausible import OtherUnit
from paprle_lab.onboarding.mesh_bodies import ExemptPairs

GENTLE = 5.0  # chosen: [rad/s²] gentle for any arm; nobody's URDF states one
GENTLE_SLIDING = 1.0  # chosen: [m/s²] likewise; of a lift or a rail
_PLAIN = re.compile(r"[A-Za-z_][\w/-]*")
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
Pairs = tuple[tuple[str, str], ...]


@dataclass(slots=True, kw_only=True)
class Draft:
    """Guessed settings with doubts."""

    limbs: list[FoundLimb]
    homes: dict[str, Vec]
    ranges: dict[str, OtherUnit]
    dq_max: dict[str, tuple[float, str]]
    ignored: Pairs
    exempt: ExemptPairs
    overlaps: Pairs
    overdrawn: Pairs
    held: dict[str, float]
    slides: bool
    doubts: list[str]
    urdf: str = ""
    source: str = ""


def list_lines(draft: Draft) -> list[str]:
    """Return a draft's YAML lines with marked guesses."""
    lines = [
        f"# Written by `paprle new-robot` for {_one_line(draft.source)}.",
        "# Lines with CHECK hold guesses: review them before moving a real robot.",
        f"urdf: {_text(draft.urdf)}",
        "limbs:" if draft.limbs else "limbs: {}",
    ]
    for limb in draft.limbs:
        lines += _limb_lines(limb, draft.homes[limb.name])
    if draft.held:
        lines += ["# CHECK: these joints are in no limb and hold still", "hold:"]
        lines += [f"  {_text(joint)}: {q:g}" for joint, q in draft.held.items()]
    lines += ["limits:", "  # CHECK: guessed; the URDF has no accelerations"]
    lines.append(f"  ddq_max: {GENTLE}")
    if draft.slides:
        lines.append(f"  ddq_max_sliding: {GENTLE_SLIDING}")
    lines += _range_lines(draft.ranges)
    if draft.dq_max:
        lines.append("  dq_max:")
    for joint, (velocity, reason) in draft.dq_max.items():
        lines += [
            f"    # CHECK: {reason}",
            f"    {_text(joint)}: {velocity}",
        ]
    return [*lines, *_ignored_lines(draft), "envs:", "  kinematic: {}", "  mujoco: {}"]


def _range_lines(ranges: dict[str, OtherUnit]) -> list[str]:
    lines = []
    for key in ("lower", "upper") if ranges else ():
        lines.append(f"  {'q_min' if key == 'lower' else 'q_max'}:")
        for joint, own in ranges.items():
            lines += [
                f"    # CHECK: {own.reason}",
                f"    {_text(joint)}: {getattr(own, key)}",
            ]
    return lines


def _ignored_lines(draft: Draft) -> list[str]:
    reasons = {
        "pieces whose meshes never touch, however the joints between stand": (
            draft.exempt.never
        ),
        "CHECK: their meshes nearly always overlap or lie close, as they are drawn": (
            draft.exempt.always
        ),
        "CHECK: no limb moves one against the other, and their bodies overlap": (
            draft.overlaps
        ),
        "CHECK: drawn so thick that they are never clear of each other": (
            draft.overdrawn
        ),
        "CHECK: told to be ignored by --ignore: nothing keeps them apart": (
            draft.ignored
        ),
    }
    lines = []
    for why, pairs in reasons.items():
        lines += [f"  # {why}"] if pairs else []
        lines += [f"  - [{_text(a)}, {_text(b)}]" for a, b in pairs]
    return ["ignore_collisions:", *lines] if lines else []


def _limb_lines(limb: FoundLimb, home: Vec) -> list[str]:
    def check(key: str) -> list[str]:
        doubt = limb.doubts.get(key)
        return [] if doubt is None else [f"    # CHECK: {_one_line(doubt)}"]

    lines = [
        f"  {limb.name}:",
        f"    base_link: {_text(limb.base_link)}",
        *check("eef_link"),
        f"    eef_link: {_text(limb.eef_link)}",
        f"    joints: [{', '.join(_text(joint) for joint in limb.joint_names)}]",
        "    # CHECK: guessed: away from limits, singularities and contact",
        f"    home: [{', '.join(f'{q + 0.0:g}' for q in home)}]",
        *check("gripper"),
    ]
    if limb.gripper is not None:
        lines += [
            "    gripper:",
            f"      joint: {_text(limb.gripper.joint)}",
            f"      closed: {limb.gripper.closed}",
            f"      open: {limb.gripper.open}",
        ]
    return lines


def _text(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return json.dumps(text)


def _one_line(text: str) -> str:
    return " ".join(text.split())
