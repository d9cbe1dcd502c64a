"""Sign, offset and range; pure."""

from __future__ import annotations

import math

import numpy as np

from paprle.contracts.types import Vec

STILL = 0.02
"""A joint that is held sways less than this, [rad]. chosen: thirteen counts."""

_MOVED = 0.15  # [rad] chosen: shown on purpose, and far above backlash
_OTHERS = 0.5  # chosen: other joints move less than this share of the one shown
_GRIPPER = 0.2  # [rad] chosen: a trigger that moves less cannot be held half open


def find_sign(before: Vec, after: Vec, i: int, names: tuple[str, ...]) -> int:
    """Return the servo's sign by a positive motion of joint ``i``.

    ``before`` and ``after`` are servo angles, (n,), [rad].

    Raises:
        ValueError: If it hardly moved, or another one moved.
    """
    moved = wrap(after - before)
    others = np.delete(np.abs(moved), i)
    rest = [name for k, name in enumerate(names) if k != i]
    if abs(moved[i]) < _MOVED <= others.max(initial=0.0):
        other = rest[int(others.argmax())]
        raise ValueError(
            f"expected '{names[i]}' to move, got '{other}' moving instead; if that was "
            f"'{names[i]}', the ids of the two servos are exchanged: exchange them in "
            "the config, or with paprle setup-servos; else turn the other joint"
        )
    if abs(moved[i]) < _MOVED:
        raise ValueError(
            f"expected '{names[i]}' to move by {_MOVED} [rad] or more, got "
            f"{abs(moved[i]):.2f} [rad]; move it farther, by less than half a turn"
        )
    if len(others) and others.max() > _OTHERS * abs(moved[i]):
        other = rest[int(others.argmax())]
        raise ValueError(
            f"expected '{names[i]}' alone to move, got '{other}' moving by "
            f"{others.max():.2f} [rad] as well; hold the others, or their ids are "
            "exchanged"
        )
    return 1 if moved[i] > 0.0 else -1


def find_offset(angle: float, q: float, sign: int, gear: float) -> float:
    """Return the servo's angle at joint 0, within half a turn, [rad].

    ``angle`` and ``q`` [rad] are one pose; ``gear`` is servo over joint turns.
    """
    return float(wrap(np.array(angle - sign * gear * q)))


def find_gripper(
    shut: float, wide: float, closed: float, opened: float, gear: float
) -> dict[str, float]:
    """Return a gripper's keys ``sign``, ``offset`` and ``open``.

    Servo angles ``shut`` and ``wide`` are at joints ``closed`` and ``opened``, [rad].

    Raises:
        ValueError: If it hardly moved.
    """
    travel = wide - shut  # servos count turns, and a gear takes some
    if abs(travel) < _GRIPPER:
        raise ValueError(
            f"expected the gripper to travel {_GRIPPER} [rad] or more, got "
            f"{abs(travel):.2f} [rad]; show it fully closed, then fully open"
        )
    sign = 1 if (travel > 0.0) == (opened > closed) else -1
    offset = find_offset(shut, closed, sign, gear)
    return {"sign": sign, "offset": offset, "open": closed + sign * travel / gear}


def wrap(angle: Vec) -> Vec:
    """Return angles in −π ≤ angle < π, [rad]."""
    wrapped: Vec = (angle + math.pi) % (2.0 * math.pi) - math.pi
    return wrapped
