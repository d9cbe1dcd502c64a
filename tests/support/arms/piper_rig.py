"""An emulated PiPER for tests: started as a user does, hurt by its own commands."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from paprle.config import resolve
from paprle.contracts.types import RobotInfo
from paprle.ipc.process import WORKSPACE
from paprle.oracle import JudgedLimits, Verdict, check_commands
from paprle.robot import RobotModel
from paprle.testing.clock import ManualClock
from paprle_emulators.piper.journal import Record, read_journal

QUANTUM = np.radians([1e-3] * 6)  # [rad] spec: the bus knows 0.001°


class RealClock(ManualClock):
    """Real time for suites that advance a clock by hand: advancing waits."""

    def __call__(self) -> int:
        return time.monotonic_ns()

    def advance(self, dt: float) -> int:
        time.sleep(dt)
        return self()


class EmulatedPiper:
    """One ``python -m paprle_emulators.piper`` and its journal."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.log = folder / "arm.log"
        self.socket = folder / "can"
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "paprle_emulators.piper.__main__",
                f"socket={self.socket}",
                f"log={self.log}",
                *options,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=WORKSPACE,
        )
        self.endpoint = json.loads(self.process.stdout.readline())

    @property
    def channel(self) -> str:
        return self.endpoint["channel"]

    @property
    def args(self) -> list[str]:
        """Words of the command line that drive it."""
        return [
            "follower=piper",
            "env=can",
            "env.interface=emucan",
            f"env.channel={self.channel}",
            "gate.accept_unattended=true",
        ]

    def do(self, fault: str, **arguments) -> int:
        """Give a command and return when it was done, [ns]."""
        print(json.dumps({"fault": fault, **arguments}), file=self.process.stdin)
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert "error" not in answer, answer
        return answer["stamp_ns"]

    def read(self) -> Record:
        return read_journal(self.log)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> int:
        """End it as a user does; return its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(10)


def judge(record: Record, robot: RobotInfo, rate: float = 200.0) -> Verdict:
    """The oracle's verdict on what reached the arm, its joints without the gripper.

    Whole numbers of 0.001° stand in place of what the gate sent: each is off by half a
    quantum at most, so a speed by one quantum a period, an acceleration by two a period
    squared and a jerk by four a period cubed. The limits are wider by that, and by
    nothing else.
    """
    h = 1.0 / rate
    limits = JudgedLimits(
        q_min=robot.q_min[:6] - QUANTUM,
        q_max=robot.q_max[:6] + QUANTUM,
        dq_max=robot.dq_max[:6] + QUANTUM / h,
        ddq_max=robot.ddq_max[:6] + 2.0 * QUANTUM / h**2,
        dddq_max=robot.dddq_max[:6] + 4.0 * QUANTUM / h**3,
        h=h,
        joint_names=robot.joint_names[:6],
    )
    commands = record.commands[:, :6]
    return check_commands(commands[2:], limits, q_start=commands[:2])


def count_commands(record: Record, begin_ns: int, end_ns: int) -> int:
    """How many complete joint commands came in a span of time."""
    return int(((record.stamps > begin_ns) & (record.stamps <= end_ns)).sum())


def find_rest_ns(record: Record, after_ns: int) -> int:
    """When the arm's joints last moved faster than 0.01 rad/s, after a time."""
    moving = (np.abs(record.dq).max(axis=1) > 0.01) & (record.state_stamps > after_ns)
    ids = np.flatnonzero(moving)
    return int(record.state_stamps[ids[-1]]) if len(ids) else after_ns


def last_command(record: Record) -> np.ndarray:
    return record.commands[-1, :6]


def describe(record: Record, robot: RobotInfo) -> str:
    """What reached the arm, in a few lines."""
    first, middle, last = np.percentile(np.diff(record.stamps) * 1e-6, [1, 50, 99])
    late = np.diff(record.state_stamps) * 1e-6
    return "\n".join(
        [
            str(judge(record, robot)),
            f"commands: {len(record.stamps)}, every {middle:.2f} ms "
            f"(p1 {first:.2f}, p99 {last:.2f})",
            f"the arm's own period: p99 {np.percentile(late, 99):.2f} ms, "
            f"max {late.max():.1f} ms",
        ]
    )


if __name__ == "__main__":  # python piper_rig.py arm.log episode.mcap
    from paprle.recording.reader import Episode

    log, path = map(Path, sys.argv[1:])
    print(describe(read_journal(log), Episode.open(path).robot_info))  # noqa: T201 - a command


def cycle(follower, clock, q=None, *, until="", time=1.0):
    """Write q, or where the arm is, for a time or until there is that reason."""
    for _ in range(int(time * 200)):
        state = follower.read()
        if until and until in state.stop_reason:
            break
        follower.write(state.q if q is None else q)
        clock.advance(0.005)
    return state


def load(name, *words):
    """Return a robot with other settings."""
    resolved = resolve(
        ["leader=autopilot", f"follower={name}", "env=kinematic", *words]
    )
    return RobotModel.from_settings(resolved.robot, name, WORKSPACE).info
