"""Check of an arm's pose."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from paprle.contracts.urdf.limits import read_limits
from paprle.hardware.dynamixel.bus import Reading
from paprle.leaders.puppeteer.arm import Arm, ArmState

Finding = tuple[bool, str]
"""Whether the part is well, and a sentence about it."""

_OFF = 0.15  # [rad] chosen: less than a tooth of a horn, more than play and a stand
_PULLED = 0.25  # [1] chosen: a trigger that nobody pulls is further open
_SLACK = 0.1  # [rad] chosen: a joint against its stop bends a little


def examine_pose(arm: Arm, reading: Reading, is_still: bool) -> Iterator[Finding]:
    """Compare joints with limits and the rest pose."""
    try:
        limits = read_limits(Path(arm.settings.urdf))
    except ValueError as err:
        yield False, f"limb '{arm.name}': {err}; correct its urdf"
        return
    if not arm.is_in(reading):
        return
    state, is_well = arm.convert(reading), True
    q = state.q
    for joint, value in zip(arm.joint_names, q.tolist(), strict=True):
        if joint not in limits:
            known = ", ".join(limits)
            is_well = False
            yield (
                False,
                f"limb '{arm.name}': expected joint '{joint}' in {arm.settings.urdf}, "
                f"got none; there are: {known}",
            )
            continue
        low, high = limits[joint]
        if not low - _SLACK <= value <= high + _SLACK:
            is_well = False
            yield (
                False,
                f"joint '{arm.name}/{joint}': expected {low:.2f} to {high:.2f} [rad] "
                f"(its URDF), got {value:.2f} [rad]; run paprle calibrate --joint "
                f"{arm.name}/{joint}",
            )
    if is_well:
        listed = np.array2string(q, precision=2, suppress_small=True)
        yield True, f"limb '{arm.name}': at {listed} [rad], within its URDF's limits"
        if is_still:
            yield from _compare_rest(arm, state)
        else:
            yield True, f"limb '{arm.name}': it moves; lay it down to compare signs"


def _compare_rest(arm: Arm, state: ArmState) -> Iterator[Finding]:
    apart = (state.q[: arm.n_arm] - arm.reset_q).tolist()
    off = [
        f"{joint} by {away:+.2f}"
        for joint, away in zip(arm.joint_names, apart, strict=False)
        if abs(away) > _OFF
    ]
    if off:
        yield (
            False,
            f"limb '{arm.name}': away from its rest pose: {', '.join(off)} [rad]; lay "
            "it there; if it lies there, a sign, an offset (a tooth of a horn) or two "
            "ids are wrong: run paprle calibrate",
        )
    unseen = [
        joint
        for joint, rest in zip(arm.joint_names, arm.reset_q.tolist(), strict=False)
        if 2.0 * abs(rest) <= _OFF
    ]
    if unseen:
        yield (
            True,
            f"limb '{arm.name}': wrong signs of {', '.join(unseen)} do not show at its "
            "rest pose: after work on them, run paprle calibrate",
        )
    opening = state.opening
    if opening is not None and opening < _PULLED:
        yield (
            False,
            f"limb '{arm.name}': expected its trigger open, got {opening:.0%} open; "
            "let go of it; if nobody pulls it, its sign, or open and closed, are "
            f"wrong: run paprle calibrate --joint {arm.name}/{arm.joint_names[-1]}",
        )
