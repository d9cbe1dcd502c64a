"""What the verification of its stop (V2) costs a step of the gate.

``python -m benchmarks.verification``: a robot follows moving joints, and after each
step the very stop that it verified is verified once more, and timed; what reaching a
kernel costs is taken off. Pairs are those of the robot, and none is left out.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks.control import H_NS, N_TIGHT, ROBOTS, SWING, Bench
from paprle.compiled import compiled
from paprle.gate.memory import lay_out
from paprle.gate.stops import verify_stop

H = H_NS * 1e-9  # [s]
N_FIRST = 100  # chosen: steps that warm up


@compiled
def reach_only(floats, integers, h):
    _, _, motion, collision, _, _ = lay_out(floats, integers)
    collision.measured.work[0] = 0.0
    return motion.c[0] * h


@compiled
def verify_again(floats, integers, h):
    limits, _, motion, collision, _, _ = lay_out(floats, integers)
    collision.measured.work[0] = 0.0
    return verify_stop(collision, limits.ddq_max, h, motion.c, motion.v_next)


def measure(name: str) -> tuple[int, list[float]]:
    """Return a robot's number of pairs; medians of a step, and of V2 in it, [µs]."""
    bench = Bench(name, "joints").engage()
    gate, rows = bench.gate.gate, []
    q_meas = gate.q_cmd
    for k in range(N_TIGHT + N_FIRST):
        q_des = bench.robot.home + SWING * np.sin(2.0 * k * H)
        marks = [time.perf_counter_ns()]
        result = gate.step(q_des, H, q_meas=q_meas)
        marks.append(time.perf_counter_ns())
        for kernel in (verify_again, reach_only):
            kernel(*gate._memory, H)  # noqa: SLF001 - the very stop that was sent
            marks.append(time.perf_counter_ns())
        rows.append(np.diff(marks))
        q_meas = result.q_cmd
    step, again, reached = np.median(rows[N_FIRST:], axis=0) * 1e-3
    return len(gate.pair_names), [step, again - reached]


def main() -> None:
    """Print a line for each robot."""
    print(f"{'':32}{'step':>10}{'V2':>10}{'without':>10}  µs, medians")
    for name in ROBOTS:
        n_pairs, (step, verified) = measure(name)
        numbers = (step, verified, step - verified)
        print(
            f"{name + f', {n_pairs} pairs':32}" + "".join(f"{x:10.1f}" for x in numbers)
        )


if __name__ == "__main__":
    main()
