"""The SO-101 as a robot of a session, and the log of an emulated one."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from paprle.config import resolve
from paprle.contracts.types import RobotInfo
from paprle.ipc.process import WORKSPACE
from paprle.oracle import JudgedLimits, Verdict, check_commands
from paprle.robot import RobotModel

QUANTUM = 2.0 * math.pi / 4096  # [rad] spec: the servos know counts
MIDDLE = 2047.5  # [counts] spec: LeRobot: the middle of a calibrated range


def load_robot(name, *words):
    resolved = resolve(["leader=autopilot", f"follower={name}", "env=feetech", *words])
    return RobotModel.from_settings(resolved.robot, name, WORKSPACE).info


class Record(NamedTuple):
    """Goals that reached the servos, and how the joints moved.

    Attributes:
        goals_ns: Host time of each goal of all servos, shape (n,), [ns].
        goals: Of the five joints [rad], and the jaw [counts], shape (n, 6).
        t_ns: Host time of each state, shape (t,), [ns].
        q: True positions, shape (t, 6), [rad].
        dq: True speeds, shape (t, 6), [rad/s].
        on: Whether each servo has torque, shape (t, 6).
    """

    goals_ns: np.ndarray
    goals: np.ndarray
    t_ns: np.ndarray
    q: np.ndarray
    dq: np.ndarray
    on: np.ndarray


def read_log(path: Path, limb: str = "follower") -> Record:
    """Read a log of ``paprle-emulate so101``, whose calibration is LeRobot's."""
    rows: list[dict[str, float]] = [{}]
    stamps, t_ns, states = [], [], []
    files = [file for file in (Path(f"{path}.1"), path) if file.exists()]
    for text in "".join(file.read_text() for file in files).splitlines():
        try:
            line = json.loads(text)
        except ValueError:  # the last one of an emulator that was killed
            continue
        own = line["limbs"][limb]
        t_ns.append(line["stamp_ns"])
        states.append([own["q"], own["dq"], own["torque_on"]])
        for goal in line["goals"]:
            if goal["limb"] == limb:
                rows[-1][goal["joint"]] = goal["goal"]
                if len(rows[-1]) == len(own["joints"]):  # each write is to all servos
                    ago = round((line["t"] - goal["t"]) * 1e9)
                    stamps.append(line["stamp_ns"] - ago)
                    rows.append({})
    names = own["joints"]
    counts = np.array([[row[name] for name in names] for row in rows[:-1]])
    goals = counts.reshape(-1, len(names)).astype(float)
    goals[:, :-1] = (goals[:, :-1] - MIDDLE) * QUANTUM
    q, dq, on = np.array(states, dtype=float).swapaxes(0, 1)
    return Record(np.array(stamps), goals, np.array(t_ns), q, dq, on > 0.0)


def judge(goals: np.ndarray, robot: RobotInfo, rate: float = 200.0) -> Verdict:
    """Return the oracle's verdict on the five joints' goals, whole counts.

    A count is off by half a quantum: acceleration by two quanta a period squared. So
    each 8th and 32nd goal is judged as well, where that is 1/64 and 1/1024.
    """
    for stride in (1, 8, 32):
        h = stride / rate
        rough = JudgedLimits(
            q_min=robot.q_min[:5] - QUANTUM,
            q_max=robot.q_max[:5] + QUANTUM,
            dq_max=robot.dq_max[:5] + QUANTUM / h,
            ddq_max=robot.ddq_max[:5] + 2.0 * QUANTUM / h**2,
            dddq_max=robot.dddq_max[:5] + 4.0 * QUANTUM / h**3,
            h=h,
            joint_names=robot.joint_names[:5],
        )
        picked = goals[::stride, :5]
        verdict = check_commands(picked[2:], rough, q_start=picked[:2])
        if not verdict.is_ok:
            break
    return verdict
