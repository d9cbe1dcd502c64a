"""What advice costs a session's tick: a device of one axis, with an advisor or none.

python -m benchmarks.advice [--n 4000]

The tick of ``benchmarks.control`` (sample in to q_des posted, one process, a virtual
clock) of ``papras_7dof`` whose leader has one axis. Both cases are run turn by turn in
blocks, so that what else the machine does meets both; what advice costs is the
difference of their medians. Advice is new in every second tick, as ``admc`` gives it.
More than 20 µs is an error (exit code 1).
"""

from __future__ import annotations

import argparse
import gc
import sys
import time

import numpy as np

from paprle.advisors.admc.advisor import ADVICE
from paprle.config import resolve
from paprle.contracts.axes import N_FREEDOMS
from paprle.contracts.session_view import Advice
from paprle.contracts.settings.retarget import RetargetSettings
from paprle.contracts.types import Actions, LeaderInfo, SessionState
from paprle.gate.controller import GateController
from paprle.hosts.plan import make_follower, make_robot
from paprle.hosts.virtual import VirtualClock
from paprle.ipc.mailbox import Mailbox
from paprle.ipc.ports import LatestPort
from paprle.ipc.records import SampleView, make_layout
from paprle.retargeting.retarget import Retargeting
from paprle.session.core import Core
from paprle.session.motion import DesiredMotion

_RATE = 200.0  # [Hz] spec: the session's
_BLOCK = 100  # chosen: half a second of ticks in turn
_SWING = 0.5  # chosen: deflection of a stick that swings about its middle
MOST = 20.0  # [µs] spec: of a session's tick
_NAME = "helper"


class _Session:
    def __init__(self, *, is_advised: bool) -> None:
        resolved = resolve(
            ["leader=autopilot", "follower=papras_7dof", "env=kinematic"]
        )
        robot, self.clock = make_robot(resolved), VirtualClock()
        leader = LeaderInfo(
            limbs=("hand",), emits="axes", axes={"hand": ("push",)}, is_human=False
        )
        layout = make_layout(robot.info, leader)
        settings = RetargetSettings(modes=_NAME if is_advised else "classic")
        retargeting = Retargeting(
            robot,
            leader,
            settings,
            ik_settings=resolved.ik,
            position_margin=resolved.gate.position_margin,
        )
        motion = DesiredMotion(robot, retargeting, resolved.gate, layout)
        motion.warm_up()
        self.core = Core(
            resolved.session, leader, layout, motion, session_id=1, is_interactive=False
        )
        follower = make_follower(resolved, robot, self.clock)
        info = follower.open()
        self._gate = GateController(
            robot, resolved.gate, follower, info, layout, 1.0 / _RATE
        )
        self._samples, self._setpoints = (
            Mailbox(layout.sample),
            Mailbox(layout.setpoint),
        )
        self._status = Mailbox(layout.status)
        self._status.write(self._gate.step(None, self.clock()))
        self._advice = LatestPort(ADVICE).open() if is_advised else None
        self._said = np.zeros((), dtype=ADVICE)
        rng = np.random.default_rng(0)
        self._said["D"] = rng.uniform(-1.0, 1.0, (N_FREEDOMS, 5))
        self._said["valid"] = True
        self._sample = SampleView(layout).record
        self._k = 0

    def step(self, push: float) -> int:
        """Run one tick and one period; return the tick's time, [ns]."""
        self._k += 1
        self.clock.now_ns += round(1e9 / _RATE)
        sample, now_ns = self._sample, self.clock()
        sample["stamp_ns"], sample["seq"] = now_ns, self._k
        sample["engaged"] = sample["valid"] = sample["start"] = True
        sample["opening"], sample["pose"] = np.nan, np.nan
        sample["axes"][:] = 0.0
        sample["axes"][0, 0] = push
        self._samples.write(sample)
        if self._advice is not None and self._k % 2:
            self._said["stamp_ns"] = self._said["based_on_ns"] = now_ns
            self._advice.write(self._said)
        begin = time.perf_counter_ns()
        advice = {}
        if self._advice is not None and (said := self._advice.read()) is not None:
            age = max(0, now_ns - int(said["stamp_ns"])) * 1e-9
            advice[_NAME] = Advice(said, age)
        output = self.core.step(
            now_ns, [self._samples.read()], self._status.read(), Actions(), advice
        )
        self._setpoints.write(output.setpoint)
        end = time.perf_counter_ns()
        self._status.write(self._gate.step(self._setpoints.read(), now_ns))
        return end - begin

    def engage(self) -> None:
        """Run until engaged for a while."""
        for _ in range(4000):
            self.step(0.0)
            if self.core.state is SessionState.ENGAGED and self._k > 500:
                return
        raise RuntimeError(f"never engaged: {self.core.state.name}, {self.core.note}")


def measure(n: int, *, is_pushed: bool) -> tuple[float, float]:
    """Return the median tick without and with advice, [µs]."""
    sessions = [_Session(is_advised=False), _Session(is_advised=True)]
    for one in sessions:
        one.engage()
    gc.collect()
    gc.freeze()
    took: list[list[int]] = [[], []]
    for _ in range(n // _BLOCK):
        for one, own in zip(sessions, took, strict=True):
            for k in range(_BLOCK):
                push = _SWING * np.sin(2 * np.pi * (k + 0.5) / _BLOCK)
                own.append(one.step(float(push) if is_pushed else 0.0))
    if any(one.core.state is not SessionState.ENGAGED for one in sessions):
        raise RuntimeError("a session did not stay engaged")
    without, with_advice = (float(np.median(own)) * 1e-3 for own in took)
    return without, with_advice


def main() -> int:
    """Print both medians and their difference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=4000, help="ticks of each case")
    args = parser.parse_args()
    is_good = True
    for what, is_pushed in (("at rest", False), ("pushed", True)):
        without, advised = measure(args.n, is_pushed=is_pushed)
        sys.stdout.write(
            f"{what}: {without:.1f} µs without advice, {advised:.1f} µs with it, "
            f"{advised - without:+.1f} µs\n"
        )
        is_good &= advised - without <= MOST
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
