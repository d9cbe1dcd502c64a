"""A whole run beside emulated robots, and what reached them, by their own logs.

The worlds are those of the PiPER: ROS 2 over DDS, ROS 1 over rospy, and its own bus.
What arrived is judged there, whatever we say we sent.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import piper_rig
from ros_rig import choose_domain

from paprle.config import resolve
from paprle.contracts.types import RobotInfo
from paprle.hosts.plan import make_robot
from paprle.ipc.process import WORKSPACE
from paprle.oracle import JudgedLimits, Verdict, check_commands
from paprle_emulators.piper.journal import read_journal

WORLDS = ("ros2", "ros1", "can")
GAP = 2.0  # [periods] chosen: as a stream that was interrupted looks on arrival
STALL_NS = 25_000_000  # safety.md amendments, K2, and a period
BESIDE = 1.0  # [s] chosen: a brake, and the way back to the commands (decision 0015)
HASTE = np.inf  # [1] of A, on the way back: small steps are left to the drive


class Arrived(NamedTuple):
    """Commands of some joints, as the robot's side wrote them down.

    Attributes:
        where: Topic or channel.
        ids: Which joints of the robot they are, shape (k,).
        t_ns: When each came, shape (N,), [ns].
        q: Positions, shape (N, k), [rad] or [m].
        quantum: How far each may be off, [rad] or [m].
        is_lossy: Some were lost on the way: a step is one of two periods at most.
    """

    where: str
    ids: list[int]
    t_ns: np.ndarray
    q: np.ndarray
    quantum: float = 0.0
    is_lossy: bool = False


def cut(arrived: Arrived, h: float) -> list[tuple[np.ndarray, float]]:
    """Return what came without interruption, and what of A each piece may take.

    After a stall of the gate commands begin anew at rest. After a shorter one they go
    on, and a robot that brakes by itself meanwhile is told how it comes back to them:
    not what the gate sent.
    """
    begin = np.vstack([arrived.q[:1], arrived.q[:1]])
    gaps_ns = np.diff(arrived.t_ns)
    longest_ns = 1.5e9 * h if arrived.is_lossy else STALL_NS
    stalls = [0, *(np.flatnonzero(gaps_ns > longest_ns) + 1), len(arrived.q)]
    pieces = []
    for low, high in zip(stalls[:-1], stalls[1:], strict=True):
        q, t_ns = arrived.q[low:high], arrived.t_ns[low:high]
        q = q if low else np.vstack([begin, q])
        t_ns = t_ns if low else np.append([t_ns[0]] * 2, t_ns)
        pieces += cut_short(q, t_ns, h, is_bus=arrived.quantum > 0.0)
    return [(piece, share) for piece, share in pieces if len(piece) > 2]


def cut_short(q, t_ns, h, *, is_bus):
    """Cut once more where a robot with brakes was told nothing for two periods."""
    ends = np.flatnonzero(np.diff(t_ns) > GAP * h * 1e9) + 1
    if is_bus or not len(ends):  # its own bus is told the commands
        return [(q, 1.0)]
    pieces = [(q[: ends[0]], 1.0)]
    backs = np.searchsorted(t_ns, t_ns[ends] + int(BESIDE * 1e9))
    for start, back, end in zip(ends, backs, [*ends[1:], len(q)], strict=True):
        pieces.append((q[start : min(back, end)], HASTE))
        pieces.append((q[back:end], 1.0))
    return pieces


def judge_arrived(arrived: Arrived, robot: RobotInfo, h: float) -> list[Verdict]:
    """Return the oracle's verdicts on what came, a piece each."""
    ids, eps = arrived.ids, arrived.quantum
    limits = JudgedLimits(
        q_min=robot.q_min[ids] - eps,
        q_max=robot.q_max[ids] + eps,
        dq_max=robot.dq_max[ids] + eps / h,
        ddq_max=robot.ddq_max[ids] + 2.0 * eps / h**2,
        dddq_max=robot.dddq_max[ids] + 4.0 * eps / h**3,
        h=h,
        joint_names=tuple(robot.joint_names[i] for i in ids),
    )
    verdicts = []
    for piece, share in cut(arrived, h):
        held = limits
        if arrived.is_lossy:
            V = 2.0 * limits.dq_max
            held = replace(limits, dq_max=V, ddq_max=HASTE * V, dddq_max=None)
        elif share == HASTE:
            held = replace(limits, ddq_max=share * limits.ddq_max, dddq_max=None)
        verdicts.append(check_commands(piece[2:], held, q_start=piece[:2]))
    return verdicts


class World:
    """The emulated robots of a world and a session with them.

    Attributes:
        emulators: Words for ``demos/with_emulators.py``, an emulator a list.
        settings: Words for ``run.py``, after those that the emulators print.
    """

    def __init__(self, name: str, follower: str, folder: Path) -> None:
        self.name, self.follower, self._folder = name, follower, folder
        env = name if name == "can" or follower != "piper" else f"{name}_sim"
        self.settings = [f"follower={follower}", f"env={env}"]
        resolved = resolve(["leader=autopilot", *self.settings])
        self.robot: RobotInfo = make_robot(resolved).info
        self._env = resolved.env
        log = f"log={folder / 'robot.jsonl'}"
        if name == "can":
            self.emulators = [self._make_arm(limb.name) for limb in self.robot.limbs]
            if len(self.emulators) > 1:  # no notice stands for a robot of two arms
                self.settings += [
                    "env.interface=emucan",
                    "gate.accept_unattended=true",
                ]
                self.settings += [
                    f"env.channels.{limb.name}={folder / limb.name}"
                    for limb in self.robot.limbs
                ]
        elif name == "ros1":
            self.emulators = [
                ["ros", f"robot={follower}", f"env={env}", "transport=rospy", log]
            ]
        else:
            words = ["transport=dds", "interface=loopback", f"domain={choose_domain()}"]
            self.emulators = [["ros", f"robot={follower}", f"env={env}", *words, log]]

    def run(
        self, leader: list[str], *session: str, time: float, env: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Run a session to its end; words of a leader with ``+`` begin with those of
        its emulator."""
        hand, words = leader[: leader.index("+")] if "+" in leader else [], leader
        if hand:
            words = leader[len(hand) + 1 :]
        emulators = [*self.emulators, *([hand] if hand else [])]
        joined = [w for e in emulators for w in ("+", *e)][1:]
        command = [sys.executable, "demos/with_emulators.py", *joined, "--", *words]
        process = subprocess.Popen(
            [*command, *self.settings, *session],
            cwd=WORKSPACE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | env,
        )
        try:
            text, _ = process.communicate(timeout=time)
        except subprocess.TimeoutExpired:
            process.terminate()  # it ends what it started
            text, _ = process.communicate()
            text += f"\nit had not ended after {time:g} s"
        return subprocess.CompletedProcess(command, process.returncode, text)

    def read(self) -> list[Arrived]:
        """Return what came, of every topic or channel."""
        return self._read_arms() if self.name == "can" else self._read_topics()

    def judge(self) -> dict[str, list[Verdict]]:
        """The oracle's verdicts on what came, a piece each, by topic or channel."""
        return {
            arrived.where: judge_arrived(arrived, self.robot, 1.0 / self._env.rate)
            for arrived in self.read()
        }

    def _make_arm(self, limb: str) -> list[str]:
        words = [f"socket={self._folder / limb}", f"log={self._folder / limb}.log"]
        return ["piper", *words]

    def _read_arms(self) -> list[Arrived]:
        found = []
        for limb in self.robot.limbs:
            record = read_journal(self._folder / f"{limb.name}.log")
            ids = [self.robot.joint_names.index(name) for name in limb.joint_names]
            q, eps = record.commands[:, :6], float(piper_rig.QUANTUM[0])
            found.append(Arrived(limb.name, ids, record.stamps, q, eps))
        return found

    def _read_topics(self) -> list[Arrived]:
        lines = (self._folder / "robot.jsonl").read_text().splitlines()
        entries = [e for e in map(json.loads, lines) if e["kind"] == "command"]
        names = [
            self._env.joint_names.get(name, self._env.joint_prefix + name)
            for name in self.robot.joint_names
        ]
        found = []
        for topic in dict.fromkeys(entry["topic"] for entry in entries):
            own = [entry for entry in entries if entry["topic"] == topic]
            told = own[0]["joints"]  # fingers that mimic others stand there as well
            columns = [i for i, name in enumerate(told) if name in names]
            ids = [names.index(told[i]) for i in columns]
            t_ns = np.array([entry["t_ns"] for entry in own])
            q = np.array([entry["q"] for entry in own])[:, columns]
            found.append(Arrived(topic, ids, t_ns, q))
        return found
