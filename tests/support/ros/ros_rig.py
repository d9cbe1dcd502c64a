"""Starts the ROS robot emulator as a user does, hurts it, and reads its log."""

from __future__ import annotations

import importlib.util
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from paprle.config import resolve
from paprle.contracts.types import RobotInfo
from paprle.hardware.ros.transports.rospy_bus import find_rospy
from paprle.hosts.plan import make_robot
from paprle.ipc.process import WORKSPACE
from paprle.oracle import JudgedLimits, Verdict, check_commands

MUST_RUN = os.environ.get("REQUIRE_ROS") == "1"
"""Set where ROS 1 and the judges are installed: then a skip is a failure."""


def skip_or_fail(why: str) -> None:
    """Skip a test, but not where it must run."""
    (pytest.fail if MUST_RUN else pytest.skip)(why)


def need_dds() -> None:
    """Skip without cyclonedds."""
    if importlib.util.find_spec("cyclonedds") is None:
        skip_or_fail("cyclonedds is not installed: pip install 'paprle[ros2]'")


def choose_domain() -> int:
    """Return a DDS domain of this process; its ports are those of no default node."""
    return 101 + os.getpid() % 100


def load_robot(name: str) -> RobotInfo:
    """Return a robot's description, limits of its YAML included."""
    words = ["leader=autopilot", f"follower={name}", "env=kinematic"]
    return make_robot(resolve(words)).info


class EmulatedRos:
    """The emulator in a process of its own."""

    def __init__(
        self,
        log: Path,
        *words: str,
        env: dict[str, str] | None = None,
        host: list[str] | None = None,
    ):
        self.log = log
        command = [sys.executable, "-m", "paprle_emulators.ros", f"log={log}", *words]
        self.process = subprocess.Popen(
            [*(host or []), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
            cwd=WORKSPACE,
            env=os.environ | (env or {}),
        )
        self.endpoint = self._read_line()

    def switch(self, fault: str, *, on: bool = True) -> dict:
        """Switch a fault and wait for the answer."""
        self.process.stdin.write(json.dumps({"fault": fault, "on": on}) + "\n")
        return self._read_line()

    def kill(self) -> None:
        self.process.kill()
        self.end()

    def end(self) -> int:
        """End it as a user does, and return its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        with self.process:  # closes its pipes
            return self.process.wait(10)

    def entries(self, kind: str) -> list[dict]:
        """Return the entries of one kind in its log, so far."""
        lines = self.log.read_text().splitlines()
        return [e for e in map(json.loads, lines) if e["kind"] == kind]

    def _read_line(self) -> dict:
        ready, _, _ = select.select([self.process.stdout], [], [], 20.0)
        assert ready, "the emulator says nothing"
        line = self.process.stdout.readline()
        assert line, "the emulator died"
        return json.loads(line)


class Received:
    """What the robot received and how it moved, from its own log alone."""

    def __init__(self, rig: EmulatedRos, robot: RobotInfo, topic: str) -> None:
        commands = [e for e in rig.entries("command") if e["topic"] == topic]
        self.t_ns = np.array([entry["t_ns"] for entry in commands])
        self.q = np.array([entry["q"] for entry in commands])
        self.ids = [robot.joint_names.index(name) for name in commands[0]["joints"]]
        self.robot = robot
        motion = rig.entries("motion")
        self.motion_ns = np.array([entry["t_ns"] for entry in motion])
        n = len(self.ids)
        self.q_des = np.array([entry["q_des"] for entry in motion])[:, :n]
        self.q_meas = np.array([entry["q"] for entry in motion])[:, :n]

    def judge(self, period: float) -> Verdict:
        """The oracle's verdict on what arrived."""
        robot, ids = self.robot, self.ids
        limits = JudgedLimits(
            q_min=robot.q_min[ids],
            q_max=robot.q_max[ids],
            dq_max=robot.dq_max[ids],
            ddq_max=robot.ddq_max[ids],
            dddq_max=robot.dddq_max[ids],
            h=period,
        )
        return check_commands(self.q, limits, q_start=self.q[[0, 0]])

    def find_rest_ns(self) -> int:
        """When the controllers' desired position moved for the last time."""
        moving = np.flatnonzero(np.abs(np.diff(self.q_des, axis=0)).max(axis=1) > 1e-9)
        assert len(moving), "the robot never moved"
        assert moving[-1] + 2 < len(self.motion_ns), "the log ends in motion"
        return int(self.motion_ns[moving[-1] + 1])

    def find_speeds(self) -> np.ndarray:
        """Speeds of the arm itself between entries, shape (k − 1, n), [rad/s].

        A stock controller's own desired position leaps with each message.
        """
        dt = np.diff(self.motion_ns)[:, None] * 1e-9
        return np.diff(self.q_meas, axis=0) / dt


def wait_for(condition, timeout: float = 20.0) -> bool:
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def run_master() -> Iterator[dict[str, str]]:
    """Yield the environment of a ROS 1 master on loopback."""
    if shutil.which("roscore") is None or not find_rospy():
        skip_or_fail("ROS 1 is not here: apt-get install python3-rospy")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = {"ROS_MASTER_URI": f"http://127.0.0.1:{port}", "ROS_IP": "127.0.0.1"}
    core = subprocess.Popen(
        ["roscore", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | env,
        start_new_session=True,
    )

    def is_up():
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", port)) == 0

    assert wait_for(is_up, 30.0), "roscore did not start"
    yield env
    os.killpg(core.pid, signal.SIGTERM)
    core.wait(20)
