"""Common judge: pinocchio, coal, and finite differences.

Peers report only joints and times.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers.problem import Targets
from benchmarks.peers.robots import DT, Robot
from benchmarks.peers.targets import Fk

GOOD_POS, GOOD_ROT = 1e-3, np.radians(0.5)  # [m], [rad] issue: success of tracking
COLD_POS, COLD_ROT = 1e-4, 1e-3  # [m], [rad] issue: success of cold solves
_SLACK = 1e-6  # [rad], [1] chosen: rounding of what peers do
_ARRIVED = 0.01  # [m] chosen: a limb farther than this from its target is held up
_STANDS = 1e-3  # [rad/s] chosen


def measure_errors(
    robot: Robot, T: np.ndarray, q: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return worst errors by tick, (n_ticks,), [m] and [rad]."""
    fk = Fk(robot)
    reached = np.array([fk(x) for x in q])
    pos = np.linalg.norm(reached[..., :3, 3] - T[..., :3, 3], axis=-1)
    # |R − R_target| = 2 √2 sin(angle / 2): exact for small angles, unlike the trace
    chord = np.linalg.norm(reached[..., :3, :3] - T[..., :3, :3], axis=(-2, -1))
    rot = 2.0 * np.arcsin(np.minimum(chord / np.sqrt(8.0), 1.0))
    return pos.max(axis=1), rot.max(axis=1)


def _spread(values: np.ndarray) -> dict[str, float]:
    if len(values) == 0:
        return {}
    p50, p95, p99 = np.percentile(values, [50, 95, 99])
    return {
        "median": float(p50),
        "p95": float(p95),
        "p99": float(p99),
        "max": float(values.max()),
    }


def _errors(pos: np.ndarray, rot: np.ndarray) -> dict[str, Any]:
    good = (pos < GOOD_POS) & (rot < GOOD_ROT)
    return {
        "n": len(pos),
        "success": float(good.mean()) if len(good) else float("nan"),
        "mm": _spread(pos * 1e3),
        "deg": _spread(np.degrees(rot)),
    }


def _motion(robot: Robot, targets: Targets, q: np.ndarray) -> dict[str, Any]:
    model = robot.model
    speed, acceleration, jerk, n_fast, n_jerky = 0.0, 0.0, 0.0, 0, 0
    for path, start in zip(targets.paths(), targets.q_start, strict=True):
        dq = np.diff(np.vstack([start, start, q[path]]), axis=0) / DT
        ddq = np.diff(dq, axis=0) / DT
        speed = max(speed, float(np.abs(dq).max()))
        acceleration = max(acceleration, float(np.abs(ddq).max()))
        jerk = max(jerk, float(np.abs(np.diff(ddq, axis=0)).max(initial=0.0)) / DT)
        n_fast += int((np.abs(dq) > model.dq_max * (1 + _SLACK)).any(axis=1).sum())
        high = model.ddq_max * (1 + _SLACK) + 4e-16 * 2 * np.pi / DT**2
        n_jerky += int((np.abs(ddq) > high).any(axis=1).sum())
    over = np.maximum(model.q_min - q, q - model.q_max)
    return {
        "rad_s": speed,
        "rad_s2": acceleration,
        "rad_s3": jerk,
        "over_limits": int((over > _SLACK).any(axis=1).sum()),
        "over_speed": n_fast,
        "over_acceleration": n_jerky,
    }


def _clearance(robot: Robot, q: np.ndarray, every: int) -> dict[str, Any]:
    d = np.array([robot.judge.min_clearance(x) for x in q[::every]])
    return {
        "clearance_mm": float(d.min() * 1e3),
        "touching": float((d < 0.0).mean()),
        "too_near": float((d < robot.problem.keep - 5e-4).mean()),
    }


def _times(seconds: np.ndarray) -> dict[str, float]:
    if len(seconds) == 0:
        return dict.fromkeys(("median", "p99", "max"), float("nan"))
    us = seconds * 1e6
    return {
        "median": float(np.median(us)),
        "p99": float(np.percentile(us, 99)),
        "max": float(us.max()),
    }


def judge_track(
    robot: Robot, targets: Targets, result: dict[str, Any], every: int
) -> dict[str, Any]:
    """Judge a track; clearance every so many ticks."""
    q = result["q"]
    targets = targets.cut(len(q))
    pos, rot = measure_errors(robot, targets.T, q)
    known = (targets.kind == 0) | (targets.kind == 3)
    row = {
        "n": len(q),
        "us": _times(result["seconds"]),
        "reachable": _errors(pos[known], rot[known]),
        "unsolved": int((~result["is_solved"]).sum()),
        "n_pairs": int(result["n_pairs"]),
        **_motion(robot, targets, q),
        **_clearance(robot, q, every),
    }
    pos_ik, rot_ik = pos, rot
    if (result["q_ik"] != q).any():
        pos_ik, rot_ik = measure_errors(robot, targets.T, result["q_ik"])
    row["ik"] = _errors(pos_ik[known], rot_ik[known])
    for name, kind in (("out", 1), ("back", 2)):
        there = targets.kind == kind
        if there.any():
            row[name] = _errors(pos[there], rot[there])
            row[f"ik_{name}"] = _errors(pos_ik[there], rot_ik[there])
    return row


def judge_paths(targets: Targets, robot: Robot, q: np.ndarray) -> dict[str, float]:
    """Return paths' share below 1 mm, median and p90, [mm]."""
    targets = targets.cut(len(q))
    pos, _ = measure_errors(robot, targets.T, q)
    worst = np.array([pos[path].max() for path in targets.paths()]) * 1e3
    return {
        "n": len(worst),
        "within_1mm": float((worst < 1.0).mean()),
        "median_mm": float(np.median(worst)),
        "p90_mm": float(np.percentile(worst, 90)),
        "max_mm": float(worst.max()),
    }


def judge_freeze(robot: Robot, targets: Targets, q: np.ndarray) -> dict[str, float]:
    """Return limbs' standstills off target, and their recovery.

    Returns:
        Share of a crossing without motion though a limb was held up, the longest, [s],
        and the share of crossings that end on target.
    """
    fk, frozen, longest, back = Fk(robot), [], 0.0, []
    for path in targets.paths():
        if path.stop > len(q):
            break
        reached = fk.along(q[path])[..., :3, 3]
        far = np.linalg.norm(reached - targets.T[path][..., :3, 3], axis=-1) > _ARRIVED
        stands = np.abs(np.diff(q[path], axis=0)).max(axis=1) / DT < _STANDS
        still = far[1:].any(axis=1) & stands
        frozen.append(float(still.mean()))
        longest = max(longest, _longest_run(still) * DT)
        back.append(not far[-1].any())
    return {
        "n": len(back),
        "frozen": float(np.mean(frozen)) if back else float("nan"),
        "longest_s": longest,
        "back": float(np.mean(back)) if back else float("nan"),
    }


def _longest_run(flags: np.ndarray) -> int:
    longest = run = 0
    for flag in flags:
        run = run + 1 if flag else 0
        longest = max(longest, run)
    return longest


def judge_cold(robot: Robot, targets: Targets, result: dict[str, Any]) -> dict:
    """Judge single solves, limits included."""
    q, model = result["q"], robot.model
    targets = targets.cut(len(q))
    pos, rot = measure_errors(robot, targets.T, q)
    inside = ((q >= model.q_min - _SLACK) & (q <= model.q_max + _SLACK)).all(axis=1)
    good = (pos < COLD_POS) & (rot < COLD_ROT) & inside
    known = targets.kind == 0
    return {
        "n": int(known.sum()),
        "success": float(good[known].mean()),
        "success_at_once": float((good & (result["n_starts"] == 1))[known].mean()),
        "us": _times(result["seconds"][known]),
        "p90_us": float(np.percentile(result["seconds"][known] * 1e6, 90)),
        "n_out": int((~known).sum()),
        "us_out": _times(result["seconds"][~known]),
        "mm_out_median": _spread(pos[~known] * 1e3).get("median", float("nan")),
    }
