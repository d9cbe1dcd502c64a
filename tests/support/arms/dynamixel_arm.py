"""Arms of Dynamixel servos as robots of a session, and the log of an emulated one."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from paprle.config import resolve
from paprle.ipc.process import WORKSPACE
from paprle.robot import RobotModel

QUANTUM = 2.0 * math.pi / 4096  # [rad] spec: the servos know counts
CENTRE = 2048  # [counts] spec: e-manual, angle 0
SIGNS = {  # of a position by the counts of a servo in its drive mode
    "viperx300s": (1, 1, 1, 1, 1, 1),
    "widowx250s": (1, 1, 1, 1, 1, 1),
    "open_manipulator_x": (1, 1, 1, 1),
}


def load_model(name, *words):
    """Return a robot, and the settings of its env."""
    found = resolve(["leader=autopilot", f"follower={name}", "env=dynamixel", *words])
    return RobotModel.from_settings(found.robot, name, WORKSPACE), found.env


def resolve_robot(name, *words):
    """Return the info of a robot, and the settings of its env."""
    model, env = load_model(name, *words)
    return model.info, env


class Record(NamedTuple):
    """Goals that reached the servos, and how the joints moved.

    Attributes:
        goals_ns: Host time of each goal of all servos, shape (n,), [ns].
        goals: Of the arm's joints, shape (n, k), [rad].
        t_ns: Host time of each state, shape (t,), [ns].
        dq: True speeds of the arm's joints, shape (t, k), [rad/s].
    """

    goals_ns: np.ndarray
    goals: np.ndarray
    t_ns: np.ndarray
    dq: np.ndarray


def read_log(path: Path, name: str = "viperx300s", limb: str = "follower") -> Record:
    """Read a log of ``paprle-emulate dynamixel follower=…``."""
    rows: list[dict[str, float]] = [{}]
    stamps, t_ns, speeds = [], [], []
    files = [file for file in (Path(f"{path}.1"), path) if file.exists()]
    for text in "".join(file.read_text() for file in files).splitlines():
        try:
            line = json.loads(text)
        except ValueError:  # the last one of an emulator that was killed
            continue
        own = line["limbs"][limb]
        names = own["joints"]
        t_ns.append(line["stamp_ns"])
        speeds.append(own["dq"][:-1])
        for goal in line["goals"]:
            rows[-1][goal["joint"]] = goal["goal"]
            if len(rows[-1]) == len(names):  # each write is to all servos
                stamps.append(line["stamp_ns"] - round((line["t"] - goal["t"]) * 1e9))
                rows.append({})
    counts = np.array([[row[joint] for joint in names[:-1]] for row in rows[:-1]])
    goals = (counts.reshape(-1, len(names) - 1) - CENTRE) * QUANTUM
    goals = goals * np.array(SIGNS[name])
    return Record(np.array(stamps), goals, np.array(t_ns), np.array(speeds))
