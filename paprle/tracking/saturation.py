"""Share of requested motion missed by the command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pinocchio as pin

from paprle.contracts.types import Vec
from paprle.gate.reason_text import list_words
from paprle.gate.reasons import Reason, to_bits
from paprle.ipc.records import row_to_pose
from paprle.tracking.arm import AT_SPEED, TrackedLimb
from paprle.tracking.findings import Saturation
from paprle.tracking.looks import Look

_ARM = 0.2  # [m/rad] chosen: rotation against translation, as ik.rotation_weight
_STILL = 1e-3  # [m] and [rad] chosen: between two looks; less asks for nothing
_WORTH = 0.05  # chosen: a share that a person notices
_BACK = 2  # chosen: looks before the newest at which the way begins, 0.2 s
_SLOWING = to_bits({Reason.CLEARANCE, Reason.TOOL_SPEED, Reason.SINGULARITY})


def find_cuts(
    arm: TrackedLimb, i: int, looks: Sequence[Look], sign: str
) -> Iterator[Saturation]:
    """Yield the cuts of limb ``i``; ``sign`` prefixes the text."""
    if len(looks) <= _BACK:
        return
    before, now = looks[-1 - _BACK], looks[-1]
    own = arm.indices
    is_posed = bool(np.isfinite(now.err_pos[i]) and np.isfinite(before.err_pos[i]))
    if is_posed:
        asked = _measure_poses(*map(row_to_pose, (before.target[i], now.target[i])))
        poses = (arm.limb.fk(one.q_cmd[own]) for one in (before, now))
        sent = _measure_poses(*poses)
    else:
        asked, sent = (b[own] - a[own] for a, b in _list_joints(before, now))
    speeds = np.abs(now.dq_cmd[own]) / arm.limb.dq_max
    names, fastest = arm.limb.joint_names, int(speeds.argmax())
    if speeds[fastest] >= AT_SPEED:
        one = slice(None) if is_posed else slice(fastest, fastest + 1)
        share = find_share(asked[one], sent[one])
        yield Saturation(f"{sign}velocity of {names[fastest]}", share)
        return
    share = find_share(asked, sent)
    if share < _WORTH:
        return
    if now.reasons & _SLOWING:
        yield Saturation(sign + ", ".join(list_words(now.reasons & _SLOWING)), share)
    elif now.reasons & to_bits({Reason.ACCELERATION}):
        missing = np.abs(now.dq_des[own] - now.dq_cmd[own]) / arm.ddq_max
        yield Saturation(f"{sign}acceleration of {names[int(missing.argmax())]}", share)


def _list_joints(before: Look, now: Look) -> tuple[tuple[Vec, Vec], ...]:
    return (before.q_des, now.q_des), (before.q_cmd, now.q_cmd)


def _measure_poses(before: pin.SE3, now: pin.SE3) -> Vec:
    turn = pin.log3(now.rotation @ before.rotation.T)
    return np.concatenate([now.translation - before.translation, _ARM * turn])


def find_share(asked: Vec, sent: Vec) -> float:
    """Return the missing share of a requested way, (k,), 0 … 1."""
    length = float(np.linalg.norm(asked))
    if length < _STILL:
        return 0.0
    gone = float(asked @ sent) / length**2
    return 1.0 - min(max(gone, 0.0), 1.0)
