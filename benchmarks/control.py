"""What one tick costs: IK, session tick and gate period for 1, 2 and 4 limbs.

``make bench`` or ``python -m benchmarks.control [--json FILE]``. Times of the code
alone, in one process, in a tight loop; a paced loop in a live session is 1.2–4 times
slower, and stands in the report of every recording.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
import pinocchio as pin

from paprle.config import resolve
from paprle.gate.controller import GateController
from paprle.kinematics import IkSolver
from paprle.session.core import Core
from paprle.session.motion import Motion
from paprle.session.operator import Actions
from paprle.session.plan import make_follower, make_plan
from paprle.session.virtual import VirtualClock
from paprle.types import SessionState
from paprle.wire import pack_sample

ROBOTS = {"papras_7dof": 1, "papras_7dof_2arm": 2, "g1": 4}
N = 2000  # measured ticks
H = 0.005  # [s]


def summary(seconds):
    us = np.array(seconds) * 1e6
    return {
        "median_us": round(float(np.median(us)), 1),
        "p99_us": round(float(np.percentile(us, 99)), 1),
        "max_us": round(float(us.max()), 1),
    }


def measure_ik(robot):
    """One warm solve of each limb toward a point on a 5 cm circle at 0.2 m/s."""
    times = []
    solvers = {name: IkSolver(limb) for name, limb in robot.limbs.items()}
    q = {name: limb.home for name, limb in robot.limbs.items()}
    T_0 = {name: limb.fk(limb.home) for name, limb in robot.limbs.items()}
    for k in range(N):
        angle = 4.0 * k * H
        offset = 0.05 * np.array([np.cos(angle) - 1.0, np.sin(angle), 0.0])
        started = time.perf_counter()
        for name, solver in solvers.items():
            target = pin.SE3(T_0[name].rotation, T_0[name].translation + offset)
            q[name] = solver.solve(target, q[name]).q
        times.append(time.perf_counter() - started)
    return summary(times)


def measure_session(name):
    """A virtual session engaged in a circle: tick and gate period, each timed."""
    clock = VirtualClock()
    resolved = resolve(
        [
            "leader=autopilot",
            f"follower={name}",
            "env=kinematic",
            "leader.size=0.1",
            "leader.laps=1000",
            "retarget.mode=relative",
        ]
    )
    plan = make_plan(resolved, clock)
    follower = make_follower(resolved, plan.robot, clock)
    info = follower.open()
    plan.leader.open()
    gate = GateController(
        plan.robot.info, resolved.gate, follower, info, plan.layout, H
    )
    motion = Motion(plan.robot, plan.retargeting, resolved.gate, plan.layout)
    core = Core(
        resolved.session,
        plan.leader.info,
        plan.layout,
        motion,
        session_id=1,
        is_interactive=False,
    )
    status = gate.step(None, clock())
    ticks, periods = [], []
    while len(ticks) < N:
        clock.now_ns += round(1e9 / info.rate)
        sample = pack_sample(plan.layout, plan.leader.latest())
        started = time.perf_counter()
        output = core.step(clock(), sample, status, Actions())
        ticked = time.perf_counter()
        status = gate.step(output.setpoint, clock())
        ended = time.perf_counter()
        plan.leader.apply(output.feedback)
        if core.state is SessionState.ENGAGED:
            ticks.append(ticked - started)
            periods.append(ended - ticked)
    return summary(ticks), summary(periods), plan.robot


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    args = parser.parse_args()
    results = {}
    print(
        f"{'robot':<18}{'limbs':>6}  {'what':<12}{'median':>9}{'p99':>9}{'max':>9} µs"
    )
    for name, n_limbs in ROBOTS.items():
        tick, period, robot = measure_session(name)
        rows = {"ik": measure_ik(robot), "session tick": tick, "gate period": period}
        results[name] = {"n_limbs": n_limbs, **rows}
        for what, row in rows.items():
            values = "".join(f"{value:>9.1f}" for value in row.values())
            print(f"{name:<18}{n_limbs:>6}  {what:<12}{values}")
    if args.json:
        args.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
