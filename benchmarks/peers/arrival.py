"""Time to target of the gate against Ruckig's time-optimal motion.

Joint targets with clear straight ways, at rest, same V, A and jerk, without our tool
speed limit. Targets whose Ruckig motion, blind to bodies, loses clearance are separate.
"""

from __future__ import annotations

import numpy as np
import ruckig

from benchmarks.peers.robots import DT, Robot
from benchmarks.peers.targets import make_rng
from paprle import Gate, GateConfig

_APART = 0.04  # [m] chosen: of the bodies on the straight way
_THERE = 1e-6  # [rad] issue: the bound on overshoot
_LONGEST = 20.0  # [s] chosen: what has not arrived by then never will
_STRAIGHT = 30  # points of the way that are checked first
_FINE = 0.01  # [rad] chosen: of any joint between the points that are checked then


def compute_optimal(
    robot: Robot, q0: np.ndarray, q1: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return Ruckig's duration, [s], and joints by tick."""
    n = len(q0)
    wanted = ruckig.InputParameter(n)
    wanted.current_position, wanted.target_position = q0, q1
    wanted.current_velocity = wanted.target_velocity = np.zeros(n)
    wanted.max_velocity = robot.model.dq_max
    wanted.max_acceleration = robot.model.ddq_max
    wanted.max_jerk = robot.model.info.dddq_max
    found = ruckig.Trajectory(n)
    ruckig.Ruckig(n).calculate(wanted, found)
    times = np.arange(0.0, found.duration, DT)
    return float(found.duration), np.array([found.at_time(t)[0] for t in times])


def run_gate(gate: Gate, q1: np.ndarray) -> tuple[float, float]:
    """Return time to a target, [s], and overshoot."""
    way = np.sign(q1 - gate.q_cmd)
    overshoot = 0.0
    for k in range(1, round(_LONGEST / DT)):
        q = gate.step(q1, DT).q_cmd
        overshoot = max(overshoot, float(((q - q1) * way).max()))
        if np.abs(q - q1).max() <= _THERE and gate.is_at_rest:
            return k * DT, overshoot
    return np.inf, overshoot


def _find_target(robot: Robot, gate: Gate, rng: np.random.Generator) -> np.ndarray:
    low, high = np.maximum(gate.q_min, -np.pi), np.minimum(gate.q_max, np.pi)
    apart = min(_APART, 0.9 * robot.judge.min_clearance(robot.model.home))
    while True:
        q1 = rng.uniform(low, high)
        n = int(np.abs(q1 - gate.q_cmd).max() / _FINE) + 2
        ways = (np.linspace(gate.q_cmd, q1, k) for k in (_STRAIGHT, n))
        if all(_is_clear(robot, way, apart) for way in ways):
            return q1


def _is_clear(robot: Robot, way: np.ndarray, apart: float) -> bool:
    return all(robot.judge.min_clearance(q) > apart for q in way)


def measure_arrivals(robot: Robot, n: int) -> dict[str, float]:
    """Return ratios of times over n targets."""
    rng = make_rng(robot, "arrival", 0)
    gate = Gate(robot.model, GateConfig(tool_speed=None), h=DT)
    gate.reset(robot.model.home)
    ratios, overshoots, fair = [], [], []
    for _ in range(n):
        q1 = _find_target(robot, gate, rng)
        optimal, way = compute_optimal(robot, gate.q_cmd, q1)
        fair.append(_is_clear(robot, way, robot.problem.keep))
        seconds, overshoot = run_gate(gate, q1)
        ratios.append(seconds / optimal)
        overshoots.append(overshoot)
        if not np.isfinite(seconds):
            gate.reset(q1)
    is_fair, every = np.array(fair), np.array(ratios)
    measured, unfair = every[is_fair], every[~is_fair]
    return {
        "n": len(measured),
        "reached": float(np.isfinite(every).mean()),
        "median": float(np.median(measured)),
        "p99": float(np.percentile(measured, 99, method="higher")),
        "max": float(measured.max()),
        "overshoot": float(np.max(overshoots)),
        "n_unfair": len(unfair),
        "max_unfair": float(unfair.max()) if len(unfair) else float("nan"),
    }
