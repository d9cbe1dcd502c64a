"""Start of a tick's inverse kinematics, compiled."""

from __future__ import annotations

import math

from paprle.compiled import compiled
from paprle.contracts.types import Vec
from paprle.robot.arrays import Ints

SEED_BOUND = 0.3  # [rad] chosen: how far q_des may run ahead of the command


@compiled
def clamp_seed_to_command(own: Ints, q_cmd: Vec, q: Vec) -> float:
    """Clamp q, (n_l,), to ``SEED_BOUND`` of the command; return the change, [rad]."""
    apart = 0.0
    for k in range(len(own)):
        distance = abs(q[k] - q_cmd[own[k]])
        apart = max(apart, distance) if math.isfinite(distance) else math.inf
    if apart <= SEED_BOUND:
        return 0.0
    share, pulled = SEED_BOUND / apart, 0.0
    for k in range(len(own)):
        before = q[k]
        q[k] = q_cmd[own[k]]
        if share > 0.0:
            q[k] += share * (before - q[k])
        pulled = max(pulled, abs(q[k] - before))
    return pulled


@compiled
def choose_joints(
    joints: Ints, ends: Ints, wanted: Vec, q_prev: Vec, q_cmd: Vec, q: Vec
) -> None:
    """Write wanted joints, NaN: stay; the others of a limb stay near the command.

    ``ends``, (m,), ends each limb's places in ``joints``; positions are [rad] or [m].
    """
    for j in range(len(q)):
        q[j] = wanted[j] if math.isfinite(wanted[j]) else q_prev[j]
    begin = 0
    for end in ends:
        own = joints[begin:end]
        q_limb = q_prev[own]
        clamp_seed_to_command(own, q_cmd, q_limb)
        for k in range(len(own)):
            if not math.isfinite(wanted[own[k]]):
                q[own[k]] = q_limb[k]
        begin = end
