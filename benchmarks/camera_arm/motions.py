"""Motions of a hand."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pinocchio as pin

RATE = 60.0  # [Hz]
_DOWN = -0.30  # [m] chosen: from an arm's home to the table
_PANDA = (  # of example-robot-data, in the test kit
    Path(sysconfig.get_paths()["purelib"])
    / "cmeel.prefix/share/example-robot-data/robots/panda_description/urdf/panda.urdf"
)
_STAY = 0.4  # [s] a hand grasps
_TREMOR, _TREMOR_HZ = 0.0015, 9.0  # [m] chosen: physiological tremor


class Habit(NamedTuple):
    """Parameters of pick and place.

    Attributes:
        picks: Before and left of the hand's start, [m].
        places: Likewise.
        downs: Depths below these, [m].
        over: Height of approach, [m].
        peak: Speed, [m/s].
    """

    # from the arm's home, 0.49 m before the base and 0.49 m up
    picks: tuple[tuple[float, float], ...] = (
        (0.05, -0.20),
        (-0.10, 0.15),
        (0.12, 0.05),
    )
    places: tuple[tuple[float, float], ...] = (
        (0.05, 0.25),
        (-0.05, -0.25),
        (-0.15, 0.20),
    )
    downs: tuple[float, ...] = (_DOWN, _DOWN, _DOWN)
    over: float = 0.18
    peak: float = 0.5  # chosen: of an unhurried person, Flash and Hogan 1985


def draw_habit(seed):
    """Return a seeded habit."""
    rng = np.random.default_rng([seed, 0])
    side = rng.choice([-1.0, 1.0])
    low, high = (-0.15, 0.0), (0.12, 0.30)
    picks = rng.uniform(low, high, (3, 2)) * (1.0, side)
    places = rng.uniform(low, high, (3, 2)) * (1.0, -side)
    return Habit(
        tuple(map(tuple, picks)),
        tuple(map(tuple, places)),
        tuple(rng.uniform(_DOWN, -0.08, 3)),
        rng.uniform(0.06, 0.2),
        rng.uniform(0.2, 0.9),
    )


def make_picks(seconds, seed=0, habit=Habit()):  # noqa: B008 - frozen
    """Return times [s] and rows xyz + quat_xyzw, with tremor."""
    rng = np.random.default_rng(seed)
    points, up = [np.zeros(3)], np.array([0.0, 0.0, habit.over])
    for k in range(100):
        down = habit.downs[k % 3]
        for x, y in (habit.picks[k % 3], habit.places[k % 3]):
            over = np.array([x, y, down]) + up + rng.normal(0, 0.01, 3)
            points += [over, over - up, over]
    p = [points[0][None]]
    yaw = [np.zeros(1)]
    for k, (a, b) in enumerate(zip(points, points[1:], strict=False)):
        peak = habit.peak * rng.uniform(0.6, 1.1)
        T = max(1.875 * np.linalg.norm(b - a) / peak, 0.4)
        s = np.arange(1, round(T * RATE) + 1) / round(T * RATE)
        s = 10 * s**3 - 15 * s**4 + 6 * s**5
        p.append(a + s[:, None] * (b - a))
        yaw.append(yaw[-1][-1] * (1 - s) + s * 0.4 * np.sin(k))
        if k % 3 == 1:
            p.append(np.repeat(b[None], round(_STAY * RATE), axis=0))
            yaw.append(np.repeat(yaw[-1][-1], round(_STAY * RATE)))
    n = round(seconds * RATE)
    p, yaw = np.concatenate(p)[:n], np.concatenate(yaw)[:n]
    t = np.arange(len(p)) / RATE
    shake = 2 * np.pi * (_TREMOR_HZ * t[:, None] + rng.random(3))
    p = p + _TREMOR * np.sin(shake) * np.minimum(t, 1.0)[:, None]
    quats = [pin.Quaternion(pin.rpy.rpyToMatrix(0, 0, a)).coeffs() for a in yaw]
    return t, np.column_stack([p, quats])


def write_tum(path, t, rows):
    """Write a motion for the leader ``offline``."""
    with path.open("w") as file:
        for stamp, row in zip(t, rows, strict=True):
            file.write(" ".join(f"{x:.6f}" for x in (stamp, *row)) + "\n")


def read_recorded(path, seconds):
    """Read a Franka's NPZ ``qpos`` (2 ms a row), ARBot CSV, or TUM.

    Returns:
        Times [s] and rows xyz + quat_xyzw.
    """
    if path.suffix == ".npz":
        t, rows = _place_hand(np.load(path)["qpos"][::8, :7])
    elif path.suffix == ".csv":
        rows = np.loadtxt(path, delimiter=",", skiprows=1, usecols=range(8))
        t, rows = rows[:, 0], rows[:, 1:]
    else:
        rows = np.loadtxt(path)
        t, rows = rows[:, 0], rows[:, 1:]
    keep = (t - t[0] <= seconds) & (np.diff(t, prepend=t[0] - 1.0) > 0.0)
    t, rows = t[keep] - t[0], rows[keep]
    R_0 = pin.Quaternion(rows[0, 3:]).normalized().matrix()
    quats = [
        pin.Quaternion(pin.Quaternion(row[3:]).normalized().matrix() @ R_0.T).coeffs()
        for row in rows
    ]
    p = rows[:, :3] - rows[0, :3]
    p *= min(1.0, _DOWN / min(float(p[:, 2].min()), _DOWN))  # not into the table
    return t, np.column_stack([p, quats])


def _place_hand(q):
    model = pin.buildModelFromUrdf(str(_PANDA))
    data, frame = model.createData(), model.getFrameId("panda_hand")
    full, rows = pin.neutral(model), []
    for full[:7] in q:
        pin.framesForwardKinematics(model, data, full)
        rows.append(pin.SE3ToXYZQUAT(data.oMf[frame]))
    return np.arange(len(q)) * 0.016, np.array(rows)
