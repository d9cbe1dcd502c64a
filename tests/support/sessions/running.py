"""Starts the product as a user does and finds its processes, to hurt them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from paprle.contracts.types import GateState
from paprle.gate.reasons import Reason
from paprle.ipc.process import WORKSPACE
from paprle.oracle import JudgedLimits, check_commands
from paprle.recording.reader import Episode

SLACK = 0.02  # [s] safety.md amendments: shared CI machines


def find_child(parent: int, role: str) -> int | None:
    """Return the process of a role by its name in the table of processes."""
    kind, _, instance = role.partition(":")
    title = re.compile(rf"paprle\.hosts\.\w+\.{kind} {instance}".rstrip().encode())
    for pid in _list_children(parent):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(map(title.fullmatch, words)):
            return pid
    return None


def _list_children(parent: int) -> list[int]:
    """Return the children of all threads of a process (proc_pid_children(5))."""
    found: list[int] = []
    for path in Path(f"/proc/{parent}/task").glob("*/children"):
        with suppress(OSError):  # a thread that ended
            found += map(int, path.read_text().split())
    return found


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


class RunningSession:
    """One ``run.py`` in a process group of its own."""

    def __init__(
        self,
        args: list[str],
        out: Path,
        env: dict[str, str] | None = None,
        host: list[str] | None = None,
    ) -> None:
        self.out = out
        self.log = out.parent / "log.txt"
        with self.log.open("w") as log:
            command = [sys.executable, str(WORKSPACE / "run.py")]
            self.process = subprocess.Popen(
                [*(host or []), *command, *args, f"record.dir={out}"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=os.environ | (env or {}),
            )
        self.pids = {"session": self.process.pid}

    def find_pids(self, names=("gate", "leader", "recorder"), timeout=30.0):
        end = time.monotonic() + timeout
        while time.monotonic() < end and len(self.pids) <= len(names):
            for name in names:
                pid = find_child(self.process.pid, name)
                if pid is not None:
                    self.pids[name] = pid
            assert self.process.poll() is None, self.text()
            time.sleep(0.02)
        assert set(names) <= self.pids.keys(), self.text()

    def wait_for(self, state: str, timeout: float = 40.0) -> None:
        """Wait until the session has said that it is in a state."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if state in self.text():
                return
            assert self.process.poll() is None, self.text()
            time.sleep(0.02)
        raise AssertionError(f"never reached {state}:\n{self.text()}")

    def text(self) -> str:
        return self.log.read_text(errors="replace")

    def kill(self, name: str, number: int = signal.SIGKILL) -> int:
        """Send a signal to a role and return the monotonic time of it, [ns]."""
        at = time.monotonic_ns()
        os.kill(self.pids[name], number)
        return at

    def kill_group(self, number: int) -> int:
        """Send a signal to all processes at once; return the time of it, [ns]."""
        at = time.monotonic_ns()
        os.killpg(self.process.pid, number)
        return at

    def wait_gone(self, timeout: float = 25.0) -> int | None:
        """Wait for every process to end; none may be left behind."""
        code = None
        end = time.monotonic() + timeout
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running:\n{self.text()}") from None
        while time.monotonic() < end and any(map(is_running, self.pids.values())):
            time.sleep(0.05)
        left = {name: pid for name, pid in self.pids.items() if is_running(pid)}
        assert not left, f"left behind: {left}\n{self.text()}"
        return code

    def episode(self, number: int = 0) -> Episode:
        return Episode.open(self.out / f"episode_{number:06d}.mcap")

    def end(self) -> None:
        for pid in self.pids.values():
            if is_running(pid):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()


def judge(episode: Episode):
    """The oracle's verdict on everything that was sent."""
    robot, gate = episode.robot_info, episode.gate
    limits = JudgedLimits.of(robot, float(episode.header["gate_period"]))
    is_sent = gate["state"] != GateState.DISARMED
    first = int(np.flatnonzero(is_sent)[0])
    is_sent[:first] = False
    stalled = gate["reasons"] & np.uint64(1 << Reason.STALLED) > 0
    sent = np.flatnonzero(is_sent & ~stalled)
    start = gate["q_cmd"][max(first - 2, 0) : first]
    return check_commands(
        gate["q_cmd"][sent],
        limits,
        t_ns=gate["stamp_ns"][sent],
        armed_at=np.flatnonzero(stalled[sent - 1] & (sent > first)).tolist(),
        q_start=start if len(start) == 2 else None,
    )


def find_rest_ns(episode: Episode, after_ns: int) -> int:
    """When the command first stood still for good, after a time."""
    gate = episode.gate
    moving = np.flatnonzero(np.abs(gate["dq_cmd"]).max(axis=1) > 1e-9)
    assert len(moving), "the arm never moved"
    last = gate["stamp_ns"][moving[-1]]
    assert moving[-1] + 1 < len(gate), "the recording ends in motion"
    return max(int(last), after_ns)


def find_speed_share(episode: Episode, at_ns: int) -> float:
    """Commanded speed at a time, as a share of V."""
    gate = episode.gate
    row = max(0, int(np.searchsorted(gate["stamp_ns"], at_ns)) - 1)
    return float((np.abs(gate["dq_cmd"][row]) / episode.robot_info.dq_max).max())
