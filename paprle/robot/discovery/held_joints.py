"""Descriptions of the joints in no limb."""

from __future__ import annotations

from collections.abc import Sequence

from paprle.robot.discovery.grippers import find_fingers
from paprle.robot.discovery.limbs import find_wheels
from paprle.robot.discovery.moving_base import find_base_joints
from paprle.robot.tree import Urdf

_N_TOLD = 8  # chosen: names in a line


def describe_held(urdf: Urdf, names: Sequence[str]) -> list[str]:
    """Return a line for each kind of held joints."""
    kinds = {
        "a moving base holds still, since no rule drives one": find_base_joints(urdf),
        "wheels and rotors hold still, since no rule drives them": find_wheels(urdf),
        "fingers of hands hold still, since no rule drives them": find_fingers(urdf),
        "in no limb, so they hold still": set(names),
    }
    lines, left = [], list(names)
    for what, its in kinds.items():
        own = [name for name in left if name in its]
        left = [name for name in left if name not in its]
        if own:
            more = len(own) - _N_TOLD
            others = f" and {more} more" if more > 0 else ""
            lines.append(f"{what}: {', '.join(own[:_N_TOLD])}{others}")
    return lines
