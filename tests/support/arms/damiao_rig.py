"""An emulated arm of Damiao motors for tests, hurt by its own orders."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from worlds import Arrived, judge_arrived

from paprle.config import resolve
from paprle.contracts.types import RobotInfo
from paprle.ipc.process import WORKSPACE
from paprle.robot import RobotModel
from paprle.testing.clock import ManualClock
from paprle_emulators import start
from paprle_emulators.damiao.journal import Record, read_journal
from paprle_emulators.damiao.models import ARMS

QUANTUM = 25.0 / 65535  # [rad] spec: a step of 16 bits over ±12.5

REPEATED_NS = 20_000_000  # the driver repeats a round after a gap


class RealClock(ManualClock):
    """Real time for suites that advance a clock by hand: advancing waits."""

    def __call__(self) -> int:
        return time.monotonic_ns()

    def advance(self, dt: float) -> int:
        time.sleep(dt)
        return self()


class EmulatedDamiao:
    """One ``paprle-emulate damiao`` and its journal."""

    def __init__(self, folder: Path, model: str = "openarm", **settings) -> None:
        folder.mkdir(exist_ok=True)
        self.log, self.model = folder / "arm.log", model
        self.table = ARMS[model]
        self._rig = start("damiao", model=model, log=self.log, **settings)
        self.channel = self._rig.port

    @property
    def args(self) -> list[str]:
        """Words of the command line that drive it, or lead with it."""
        overrides = self._rig.overrides
        if overrides[0].startswith("leader."):
            return [f"leader={self.model}", *overrides]
        return [f"follower={self.model}", "env=damiao", *overrides]

    def do(self, fault: str, **arguments) -> int:
        """Give an order and return when it was done, [ns]."""
        return self._rig.order({"fault": fault, **arguments})["stamp_ns"]

    def read(self) -> Record:
        return read_journal(self.log, self.table)

    def kill(self) -> None:
        self._rig.process.kill()
        self._rig.process.wait()

    def end(self) -> int:
        """End it as a user does; return its exit code."""
        return self._rig.stop()


def load_robot(name: str, *words: str) -> RobotInfo:
    resolved = resolve(["leader=autopilot", f"follower={name}", "env=damiao", *words])
    return RobotModel.from_settings(resolved.robot, name, WORKSPACE).info


def find_goals(record: Record, n: int) -> Arrived:
    """The joints' commands that reached the motors, without repetitions."""
    is_held = record.kp[:, :n].min(axis=1) > 0.0  # the descent has no positions
    q, t_ns = record.q_des[is_held][:, :n], record.stamps[is_held]
    is_same = np.r_[False, (np.diff(q, axis=0) == 0.0).all(axis=1)]
    is_repeat = is_same & (np.r_[0, np.diff(t_ns)] > REPEATED_NS)
    q, t_ns = q[~is_repeat], t_ns[~is_repeat]  # the arm holds: no goal has come
    return Arrived("can", list(range(n)), t_ns, q, QUANTUM)


def judge(record: Record, robot: RobotInfo, n: int, period: float = 0.005):
    """The oracle's verdicts on the joints' commands that reached the motors."""
    return judge_arrived(find_goals(record, n), robot, period)


def find_rest_ns(record: Record, after_ns: int, speed: float = 0.05) -> int:
    """When the joints last moved faster than a speed, after a time."""
    moving = (np.abs(record.dq).max(axis=1) > speed) & (record.state_stamps > after_ns)
    ids = np.flatnonzero(moving)
    return int(record.state_stamps[ids[-1]]) if len(ids) else after_ns


def cycle(follower, clock, q=None, *, until="", time=1.0):
    """Write q, or where the arm was at first, for a time or until that reason."""
    for _ in range(int(time * 200)):
        state = follower.read()
        q = state.q if q is None else q
        if until and until in state.stop_reason:
            break
        follower.write(q)
        clock.advance(0.005)
    return state
