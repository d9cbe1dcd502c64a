"""Cost of the gate's stop verification (V2) in a step.

``python -m benchmarks.verification``: each verified stop of a moving robot is verified
again, and timed, less a kernel's call; then for 1 to 8 arms around one table.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.control import H_NS, N_TIGHT, ROBOTS, SWING, Bench
from benchmarks.peers.robots import make_robot
from paprle import Gate, GateConfig, RobotModel
from paprle.compiled import compiled
from paprle.gate.contact.stops import verify_stop
from paprle.gate.memory import view_memory

H = H_NS * 1e-9  # [s]
TABLES = (1, 2, 4, 6, 8)  # arms
N_FIRST = 100  # chosen: steps that warm up


@compiled
def reach_only(floats, integers, h):
    _, _, motion, collision, _, _ = view_memory(floats, integers)
    collision.measured.work[0] = 0.0
    return motion.q_cmd[0] * h


@compiled
def verify_again(floats, integers, h):
    limits, _, motion, collision, _, _ = view_memory(floats, integers)
    collision.measured.work[0] = 0.0
    return verify_stop(collision, limits.ddq_max, h, motion.q_cmd, motion.v_next)


def make_gates() -> Iterator[tuple[str, RobotModel, Gate]]:
    """Yield names, robots, and gates at home."""
    for name in ROBOTS:
        bench = Bench(name, "joints").engage()
        yield name, bench.robot, bench.gate.gate
    for n_arms in TABLES:
        with tempfile.TemporaryDirectory() as folder:
            robot = make_robot(f"table{n_arms}", Path(folder)).model
        gate = Gate(robot, GateConfig(), h=H)
        gate.reset(robot.home)
        yield f"table of {n_arms}", robot, gate


def measure(robot: RobotModel, gate: Gate) -> list[float]:
    """Return medians of a step, and of V2, [µs]."""
    rows, q_meas = [], gate.q_cmd
    for k in range(N_TIGHT + N_FIRST):
        q_des = robot.home + SWING * np.sin(2.0 * k * H)
        marks = [time.perf_counter_ns()]
        result = gate.step(q_des, H, q_meas=q_meas)
        marks.append(time.perf_counter_ns())
        for kernel in (verify_again, reach_only):
            kernel(*gate._memory, H)  # noqa: SLF001 - the very stop that was sent
            marks.append(time.perf_counter_ns())
        rows.append(np.diff(marks))
        q_meas = result.q_cmd
    step, again, reached = np.median(rows[N_FIRST:], axis=0) * 1e-3
    return [step, again - reached]


def main() -> None:
    """Print a line for each robot."""
    print(f"{'':32}{'step':>10}{'V2':>10}{'without':>10}  µs, medians")
    for name, robot, gate in make_gates():
        step, verified = measure(robot, gate)
        label = f"{name}, {len(gate.pair_names)} pairs"
        numbers = (step, verified, step - verified)
        print(f"{label:32}" + "".join(f"{x:10.1f}" for x in numbers), flush=True)


if __name__ == "__main__":
    main()
