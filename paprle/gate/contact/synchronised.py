"""Stops whose joints rest together."""

from __future__ import annotations

from paprle.compiled import compiled
from paprle.contracts.types import Vec
from paprle.gate.limits import Box, Limits, MotionState
from paprle.robot.braking import compute_braking_velocity, compute_stopping_distance

_STANDING = 1e-12  # [rad/s] chosen: what is slower brakes as hard as it can


@compiled
def fill_ddq_sync(limits: Limits, v: Vec, ddq_sync: Vec) -> None:
    """Write decelerations, at most A, to a common rest from v."""
    for g in range(len(limits.starts) - 1):
        group = limits.members[limits.starts[g] : limits.starts[g + 1]]
        longest = 0.0
        for i in group:
            longest = max(longest, abs(v[i]) / limits.ddq_max[i])
        for i in group:
            A = limits.ddq_max[i]
            ddq_sync[i] = min(abs(v[i]) / longest, A) if abs(v[i]) > _STANDING else A


@compiled
def bound_ways(limits: Limits, h: float, speed: Vec, way: Vec) -> None:
    """Write longest ways to a group's rest, v (h + T/2); T: its time to brake."""
    for g in range(len(limits.starts) - 1):
        group = limits.members[limits.starts[g] : limits.starts[g + 1]]
        longest = 0.0
        for i in group:
            longest = max(longest, speed[i] / limits.ddq_max[i])
        for i in group:
            way[i] = speed[i] * (h + 0.5 * longest)


@compiled
def is_within(limits: Limits, h: float, motion: MotionState) -> bool:
    """Return whether synchronised braking keeps position limits."""
    for i in range(len(motion.q_cmd)):
        c, v = motion.q_cmd[i], motion.v_next[i]
        way = abs(v) * h + compute_stopping_distance(abs(v), motion.ddq_sync[i], h)
        if v > 0.0 and c + way > limits.q_max[i]:
            return False
        if v < 0.0 and c - way < limits.q_min[i]:
            return False
    return True


@compiled
def brake_synchronised(limits: Limits, h: float, motion: MotionState, box: Box) -> None:
    """Write braking of each group to a common rest."""
    fill_ddq_sync(limits, motion.dq_cmd, motion.ddq_sync)
    for i in range(len(motion.q_cmd)):
        brake = compute_braking_velocity(motion.dq_cmd[i], motion.ddq_sync[i], h)
        box.brake[i] = brake
        box.low[i], box.high[i] = min(box.low[i], brake), max(box.high[i], brake)
