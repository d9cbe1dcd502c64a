"""How smooth commands are, joint by joint: ripple, changes of sign, share at V, A, J.

From differences of q_cmd while the gate was ENGAGED, in stretches of consecutive
periods. What a hand does is below 10 Hz; acceleration above that is what a gearbox is
shaken by. The first and the last second of a stretch are left out of the ripple: there
a robot meets its leader, or brakes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from paprle.contracts.types import GateState, RobotInfo, Vec
from paprle.evaluation.tracks import Rows

Json = dict[str, Any]

SLOW = 10.0  # [Hz] chosen: quicker than any motion of a hand
EDGE = 1.0  # [s] chosen: longer than braking and catching up take
SHORTEST = 1.0  # [s] chosen: of what is left; a shorter spectrum says nothing
NOISE = 1e-6  # [rad/s²] chosen: rounding has no sign
STANDING = 1e-3  # [rad] chosen: a joint that moves less has no ripple
AT_LIMIT = 0.98  # chosen: of a limit


def measure_smoothness(gate: Rows, robot: RobotInfo, h: float | None) -> Json:
    """Measure each joint's commands.

    Args:
        gate: Gate ticks.
        robot: The robot, with its limits.
        h: Period of the gate, [s]; None: not known, and nothing is measured.

    Returns:
        By joint: ``ripple``, the rms of the acceleration over that below 10 Hz;
        ``sign_changes_per_s`` of the acceleration; ``at_v_percent``,
        ``at_a_percent`` and ``at_j_percent`` of the time. None: not known.
    """
    runs = [] if h is None else list(_find_runs(gate))
    if h is None or not runs:
        return {}
    shares = [_measure_shares(runs, robot, h, order) for order in (1, 2, 3)]
    ripple, flips = _measure_ripple(runs, h)
    keys = ("at_v_percent", "at_a_percent", "at_j_percent")
    return {
        name: {
            "ripple": _known(ripple[j]),
            "sign_changes_per_s": _known(flips[j]),
            **{key: _known(100.0 * s[j]) for key, s in zip(keys, shares, strict=True)},
        }
        for j, name in enumerate(robot.joint_names)
    }


def find_worst(joints: Json, key: str) -> tuple[str, float] | None:
    """Return the joint with the largest value of a key, and that; None: not known."""
    known = {n: row[key] for n, row in joints.items() if row[key] is not None}
    if not known:
        return None
    name = max(known, key=lambda joint: known[joint])
    return name, float(known[name])


def _find_runs(gate: Rows) -> Iterator[Vec]:
    """Yield q_cmd of stretches of consecutive ENGAGED periods, shapes (k, n), [rad]."""
    is_on = gate["state"] == GateState.ENGAGED
    breaks = np.flatnonzero(np.diff(gate["k"].astype(np.int64)) != 1) + 1
    starts = np.flatnonzero(np.diff(is_on.astype(np.int8))) + 1
    for part in np.split(np.arange(len(gate)), np.union1d(breaks, starts)):
        if len(part) > 3 and is_on[part[0]]:
            yield gate["q_cmd"][part]


def _measure_shares(runs: list[Vec], robot: RobotInfo, h: float, order: int) -> Vec:
    """Return for which share each joint was at a limit of a derivative, shape (n,)."""
    limits = (robot.dq_max, robot.ddq_max, robot.dddq_max)
    limit = limits[order - 1]
    if limit is None:
        return np.full(len(robot.joint_names), np.nan)
    found = np.concatenate([np.diff(q, order, axis=0) for q in runs]) / h**order
    share: Vec = (np.abs(found) > AT_LIMIT * limit).mean(axis=0)
    return share


def _measure_ripple(runs: list[Vec], h: float) -> tuple[Vec, Vec]:
    """Return ripple and changes of sign a second of each joint, shapes (n,)."""
    n_edge, n = round(EDGE / h), runs[0].shape[1]
    whole, slow, flips, seconds = *np.zeros((3, n)), 0.0
    moves = np.zeros(n, dtype=np.bool_)
    for q in runs:
        a = np.diff(q, 2, axis=0)[n_edge:-n_edge] / h**2
        if len(a) * h < SHORTEST:
            continue
        spectrum = np.fft.rfft(a, axis=0)
        spectrum[np.fft.rfftfreq(len(a), h) >= SLOW] = 0.0
        whole += (a**2).sum(axis=0)
        slow += (np.fft.irfft(spectrum, len(a), axis=0) ** 2).sum(axis=0)
        sign = np.sign(np.where(np.abs(a) < NOISE, 0.0, a))
        flips += (sign[1:] * sign[:-1] < 0.0).sum(axis=0)
        moves |= np.ptp(q, axis=0) > STANDING
        seconds += len(a) * h
    is_known = moves & (slow > 0.0)
    ripple: Vec = np.full(n, np.nan)
    ripple[is_known] = np.sqrt(whole[is_known] / slow[is_known])
    return ripple, np.where(is_known, flips / max(seconds, h), np.nan)


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
