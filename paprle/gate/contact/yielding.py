"""Yielding of groups that cause a step without a verified stop."""

from __future__ import annotations

from paprle.compiled import compiled, inlined
from paprle.gate.contact.clearance import fill_gradient
from paprle.gate.contact.scene import PAIR, TOOL, Collision
from paprle.gate.limits import Box, Limits, MotionState, place_next
from paprle.gate.tcp_limits import Tools
from paprle.robot.arrays import Ints

_LESS = 0.5  # chosen: of what is left above braking, per refusal
_LEAST = 0.2  # chosen: a group that is left less brakes: at the third refusal
_CLOSING = 1e-9  # [m/s] chosen: far above rounding
_EQUAL = 0.999  # chosen: groups that close a pair as fast as each other yield alike


@compiled
def note_direction(collision: Collision) -> None:
    """Write the refused pair's gradient to ``refused_row``."""
    measured, scratch = collision.measured, collision.scratch
    row = measured.refused_row
    if measured.refused[0] != PAIR:
        row[:] = 0.0
        return
    k = measured.refused[1]
    fill_gradient(collision.scene, scratch.placed, k, scratch.witness, row)


@compiled
def yield_to_refusal(
    limits: Limits,
    h: float,
    collision: Collision,
    tools: Tools,
    motion: MotionState,
    box: Box,
) -> bool:
    """Scale down the groups that cause a refusal.

    For a pair, those that close it fastest, else all that move it; for a tool, its
    limb.

    Returns:
        Whether any group does more than brake.
    """
    kind, index = collision.measured.refused[0], collision.measured.refused[1]
    cause = index if kind == PAIR else -1 - kind
    fastest, most = -1, _CLOSING
    for g in range(len(limits.starts) - 1):
        closing = _find_closing(limits, collision, motion, box, g)
        if closing > most:
            fastest, most = g, closing
    has_yielded = False
    for g in range(len(limits.starts) - 1):
        group = limits.members[limits.starts[g] : limits.starts[g + 1]]
        closing = _find_closing(limits, collision, motion, box, g)
        is_cause = fastest >= 0 and closing > _EQUAL * most
        if fastest < 0 and kind == PAIR:
            is_cause = _moves(collision, index, group)
        if kind == TOOL:
            is_cause = tools.is_member[index, group[0]] > 0
        if is_cause and _can_yield(motion, box, group):
            _lower(limits, h, motion, box, g, cause)
            has_yielded = True
    is_left = False
    for g in range(len(limits.starts) - 1):
        if not has_yielded:
            _lower(limits, h, motion, box, g, cause)
        group = limits.members[limits.starts[g] : limits.starts[g + 1]]
        is_left = is_left or _can_yield(motion, box, group)
    return is_left


@inlined
def _find_closing(
    limits: Limits, collision: Collision, motion: MotionState, box: Box, g: int
) -> float:
    group = limits.members[limits.starts[g] : limits.starts[g + 1]]
    closing, row = 0.0, collision.measured.refused_row
    for i in group:
        closing -= row[i] * motion.v_next[i]
    return closing if _can_yield(motion, box, group) else 0.0


@inlined
def _can_yield(motion: MotionState, box: Box, group: Ints) -> bool:
    for i in group:  # noqa: SIM110 - no generators in kernels
        if motion.v_next[i] != box.brake[i]:
            return True
    return False


@inlined
def _moves(collision: Collision, k: int, group: Ints) -> bool:
    reach = collision.scene.pairs.reach
    for place in range(reach.starts[k], reach.starts[k + 1]):
        for i in group:
            if reach.column[place] == i:
                return True
    return False


@inlined
def _lower(
    limits: Limits, h: float, motion: MotionState, box: Box, g: int, cause: int
) -> None:
    less = _LESS if motion.share[g] * _LESS > _LEAST else 0.0
    motion.share[g] *= less
    motion.kept_by[g] = cause
    for i in limits.members[limits.starts[g] : limits.starts[g + 1]]:
        brake = box.brake[i]
        left = less * (motion.v_next[i] - brake) if less > 0.0 else 0.0
        motion.v_next[i] = brake + left
        place_next(limits, h, motion, i)
