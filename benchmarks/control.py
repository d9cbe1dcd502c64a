"""What one tick costs: sample in to q_des posted, and gate step to q_cmd written.

``make bench`` or ``python -m benchmarks.control [--json FILE] [--memory STEPS]``. The
tick of a session and the period of its gate, through their mailboxes, but in one
process on a virtual clock: SE(3) commands (retargeting and IK) and joint commands, for
1, 2 and 4 limbs, in a tight loop and paced at 200 Hz.

tick     samples.read and status.read to setpoints.write
gate     setpoints.read to the return of the follower's write, its read included
both     the sum of the two, period by period
records  what is made for recorder, leader and session after that
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from pathlib import Path

import numpy as np

from benchmarks.memory import measure_memory
from paprle.config import resolve
from paprle.contracts.plugins import Follower
from paprle.contracts.settings.retarget import RetargetSettings
from paprle.contracts.types import Actions, LeaderInfo, SessionState
from paprle.gate.controller import GateController
from paprle.hosts.plan import make_follower, make_robot
from paprle.hosts.virtual import VirtualClock
from paprle.ipc.feedback_record import pack_feedback
from paprle.ipc.loop import DeadlineLoop
from paprle.ipc.mailbox import Mailbox
from paprle.ipc.records import SampleView, make_layout
from paprle.retargeting.retarget import Retargeting
from paprle.session.core import Core
from paprle.session.motion import DesiredMotion

ROBOTS = {"papras_7dof": 1, "papras_7dof_2arm": 2, "g1": 4}
COMMANDS = {"SE(3) command": "pose", "joint command": "joints"}
N_TIGHT, N_PACED = 4000, 600  # measured ticks
RATE = 200.0  # [Hz]
H_NS = round(1e9 / RATE)
RADIUS, SPEED = 0.05, 0.2  # [m], [m/s]: the circle of each hand
SWING = 0.2  # [rad] of each joint, at 2 rad/s
PARTS = "tick", "gate", "both", "records"


class Stamped(Follower):
    """Follower that times commands."""

    def __init__(self, follower):
        self._follower = follower
        self.info = follower.open()
        self.written_ns = 0

    def open(self):
        return self.info

    def read(self):
        return self._follower.read()

    def write(self, q_cmd):
        self._follower.write(q_cmd)
        self.written_ns = time.perf_counter_ns()

    def close(self, policy):
        self._follower.close(policy)


class Bench:
    """Engaged session and gate with a moving leader."""

    def __init__(self, name, emits):
        resolved = resolve(["leader=autopilot", f"follower={name}", "env=kinematic"])
        self.robot, self.clock = make_robot(resolved), VirtualClock()
        limbs = self.robot.limbs
        names = {limb: limbs[limb].joint_names for limb in limbs}
        leader = LeaderInfo(
            limbs=tuple(limbs),
            emits=emits,
            joint_names=names if emits == "joints" else {},
            is_human=False,
        )
        layout = make_layout(self.robot.info, leader)
        retargeting = Retargeting(
            self.robot,
            leader,
            RetargetSettings(mode="joints" if emits == "joints" else "auto"),
            ik_settings=resolved.ik,
            position_margin=resolved.gate.position_margin,
        )
        motion = DesiredMotion(self.robot, retargeting, resolved.gate, layout)
        motion.warm_up()
        self.core = Core(
            resolved.session, leader, layout, motion, session_id=1, is_interactive=False
        )
        self.follower = Stamped(make_follower(resolved, self.robot, self.clock))
        self.gate = GateController(
            self.robot,
            resolved.gate,
            self.follower,
            self.follower.info,
            layout,
            H_NS * 1e-9,
        )
        self.samples = Mailbox(layout.sample)
        self.setpoints = Mailbox(layout.setpoint)
        self.status = Mailbox(layout.status)
        self._sample = SampleView(layout).record
        self._homes = [limb.home for limb in limbs.values()]
        self._k = self._n_engaged = 0
        self.actions = Actions()
        self.status.write(self.gate.step(None, self.clock()))

    @property
    def is_engaged(self):
        return self.core.state is SessionState.ENGAGED

    def lead(self):
        """Post the leader's next sample."""
        sample = self._sample
        self._k += 1
        self._n_engaged += self.is_engaged
        self.clock.now_ns += H_NS
        t = self._n_engaged * H_NS * 1e-9
        sample["stamp_ns"], sample["seq"] = self.clock(), self._k
        sample["engaged"] = sample["valid"] = sample["start"] = True
        sample["opening"] = np.nan
        angle = SPEED / RADIUS * t
        sample["pose"] = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0
        sample["pose"][:, 0] = RADIUS * (np.cos(angle) - 1.0)
        sample["pose"][:, 1] = RADIUS * np.sin(angle)
        if sample["q"].size:
            sample["pose"] = np.nan
        for i, home in enumerate(self._homes if sample["q"].size else ()):
            sample["q"][i, : len(home)] = home + SWING * np.sin(2.0 * t)
        self.samples.write(sample)

    def step(self):
        """Run one tick and period; return times, [ns]."""
        begin = time.perf_counter_ns()
        output = self.core.step(
            self.clock(), [self.samples.read()], self.status.read(), self.actions
        )
        self.setpoints.write(output.setpoint)
        posted = time.perf_counter_ns()
        status = self.gate.step(self.setpoints.read(), self.clock())
        written = self.follower.written_ns
        self.status.write(status)
        output.tick.tobytes()
        pack_feedback(output.feedback, self.core.motion.driver)
        end = time.perf_counter_ns()
        parts = posted - begin, written - posted
        return (*parts, sum(parts), end - written)

    def engage(self):
        for _ in range(4000):
            self.lead()
            self.step()
            if self._n_engaged > 100:
                return self
        raise RuntimeError(f"never engaged: {self.core.state.name}, {self.core.note}")

    def measure(self, n, loop=None):
        rows = []
        while len(rows) < n:
            self.lead()
            if loop is not None:
                loop.wait()
            rows.append(self.step())
        if not self.is_engaged:
            raise RuntimeError(f"did not stay engaged: {self.core.note}")
        return np.array(rows) * 1e-3


def summarise(us):
    return {
        part: {
            "median_us": round(float(np.median(column)), 1),
            "p99_us": round(float(np.percentile(column, 99)), 1),
        }
        for part, column in zip(PARTS, us.T, strict=True)
    }


def run_ticks():
    print(f"{'':32}" + "".join(f"{part:>16}" for part in PARTS))
    print(f"{'':32}" + f"{'median / p99 µs':>16}" * len(PARTS))
    results = []
    for what, emits in COMMANDS.items():
        for name, n_limbs in ROBOTS.items():
            bench = Bench(name, emits).engage()
            gc.collect()
            gc.freeze()
            tight = bench.measure(N_TIGHT)
            paced = bench.measure(N_PACED, DeadlineLoop(RATE))
            for pace, us in (("tight", tight), ("paced", paced)):
                row = summarise(us)
                results.append(
                    {"command": what, "robot": name, "limbs": n_limbs, "pace": pace}
                    | row
                )
                cells = [
                    f"{v['median_us']:.0f} / {v['p99_us']:.0f}" for v in row.values()
                ]
                label = f"{what}, {n_limbs} limb{'s' * (n_limbs > 1)}, {pace}"
                print(f"{label:32}" + "".join(f"{cell:>16}" for cell in cells))
    return results


def run_memory(n_steps):
    """Measure resident memory over steps, after a tenth."""
    bench = Bench("papras_7dof", "pose").engage()
    bench.measure(n_steps // 10)
    begin = measure_memory()
    for _ in range(9):
        bench.measure(n_steps // 10)
    grown = measure_memory() - begin
    print(f"{n_steps} steps: resident memory grew by {grown / 1024:.0f} KiB")
    return {"n_steps": n_steps, "grown_bytes": grown}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    parser.add_argument(
        "--memory", type=int, metavar="STEPS", help="watch memory instead"
    )
    args = parser.parse_args()
    results = run_memory(args.memory) if args.memory else run_ticks()
    if args.json:
        args.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
