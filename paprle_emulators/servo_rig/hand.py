"""Motions of the operator's hand: built in, or from a file.

A program lists motions with durations, ``grasp_all:12,sines:60,end``; the last one
continues. Motions blend in for a second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

Vec = NDArray[np.float64]
HandMotion = Callable[[float], Vec]
"""Joint positions that the hand wants, by time since the motion began, [s] → [rad]."""

BLEND = 1.0  # chosen: a person's way from one motion to the next [s]
SWING = 0.3  # chosen: amplitude of the sines, about 20 cm at a hand [rad]
SLOWEST, FASTEST = 0.15, 0.4  # chosen: frequencies of the sines over the joints [Hz]
CHIRP = (0.05, 2.0, 40.0)  # chosen: first and last frequency [Hz], length [s]
CHIRP_SPEED = 0.6  # chosen: amplitude falls with frequency to this speed [rad/s]
REACH_TIME, REST_TIME = 1.5, 1.0  # chosen: a person's pace [s]
REACH = 0.4  # chosen: about 25 cm at a hand [rad]
OPEN_TIME, CLOSED_TIME = 2.0, 5.0  # chosen: the start signal wants 3 s of holding [s]
ASIDE = 0.4  # chosen: beyond the box of the end signal, within the start's bound [rad]
GRASP_TIME = 0.4  # chosen: of closing a gripper [s]
MARGIN = 0.05  # chosen: kept from the joints' limits [rad]


@dataclass(frozen=True, slots=True)
class Body:
    """Geometry of an arm for motions; vectors have shape (n,).

    Attributes:
        home: Reset pose, gripper open, [rad].
        closed: Closed gripper, [rad], if any.
        lower: [rad].
        upper: [rad].
    """

    home: Vec
    closed: float | None
    lower: Vec
    upper: Vec

    def grip(self, q: Vec, share: float) -> Vec:
        """Return q with the gripper closed by a share."""
        if self.closed is None:
            return q
        out = q.copy()
        out[-1] = self.home[-1] + share * (self.closed - self.home[-1])
        return out

    def swing(self, way: Vec) -> Vec:
        """Return home displaced within the limits."""
        q = self.home + (way if self.closed is None else np.append(way[:-1], 0.0))
        low = np.minimum(self.lower + MARGIN, self.home)
        high = np.maximum(self.upper - MARGIN, self.home)
        return np.clip(q, low, high)


def smooth(share: float) -> float:
    """Return a smooth step, at rest at both ends."""
    s = min(max(share, 0.0), 1.0)
    return s**3 * (10 - 15 * s + 6 * s * s)


def still(body: Body, start: Vec) -> HandMotion:
    """Stay at home, gripper open."""
    del start
    return lambda _: body.home


def sines(body: Body, start: Vec) -> HandMotion:
    """Swing every joint slowly."""
    del start
    n = len(body.home)
    frequency = np.linspace(SLOWEST, FASTEST, n)

    def motion(t: float) -> Vec:
        q = body.swing(SWING * np.sin(2 * np.pi * frequency * t))
        return body.grip(q, 0.5 - 0.5 * np.cos(2 * np.pi * SLOWEST * t))

    return motion


def chirp(body: Body, start: Vec) -> HandMotion:
    """Swing all joints, 0.05 to 2 Hz."""
    del start
    first, last, length = CHIRP
    rate = np.log(last / first) / length

    def motion(t: float) -> Vec:
        at = t % length
        frequency = first * np.exp(rate * at)
        phase = 2 * np.pi * (frequency - first) / rate
        amplitude = min(SWING, CHIRP_SPEED / (2 * np.pi * frequency))
        return body.swing(np.full(len(body.home), amplitude * np.sin(phase)))

    return motion


def reach(body: Body, start: Vec) -> HandMotion:
    """Go between fixed places near home."""
    del start
    n = len(body.home)

    def place(index: int) -> Vec:
        if index <= 0:
            return body.home
        way = np.random.default_rng(index).uniform(-REACH, REACH, n)
        return body.grip(body.swing(way), index % 2)

    def motion(t: float) -> Vec:
        index, at = divmod(t, REACH_TIME + REST_TIME)
        begin, end = place(int(index)), place(int(index) + 1)
        return begin + smooth(at / REACH_TIME) * (end - begin)

    return motion


def compute_grasp(t: float) -> float:
    """Return a gripper's closed share at t [s]."""
    at = t % (OPEN_TIME + CLOSED_TIME)
    closing = smooth((at - OPEN_TIME) / GRASP_TIME)
    opening = 1.0 - smooth(at / GRASP_TIME) if t > OPEN_TIME else 0.0
    return max(closing, opening)


def grasp_all(body: Body, start: Vec) -> HandMotion:
    """Open and close the gripper away from home."""
    del start
    aside = np.zeros(len(body.home))
    aside[0] = ASIDE
    place = body.swing(aside)
    return lambda t: body.grip(place, compute_grasp(t))


def end(body: Body, start: Vec) -> HandMotion:
    """Open and close the gripper at home."""
    del start
    return lambda t: body.grip(body.home, compute_grasp(t))


MOTIONS: Mapping[str, Callable[[Body, Vec], HandMotion]] = {
    "still": still,
    "sines": sines,
    "chirp": chirp,
    "reach": reach,
    "grasp_all": grasp_all,
    "end": end,
}


@dataclass(frozen=True, slots=True)
class ProgramStep:
    """One motion and its duration [s]."""

    name: str
    duration: float


def read_program(text: str) -> tuple[ProgramStep, ...]:
    """Return the steps of ``name:seconds,name``.

    Raises:
        ValueError: If a motion is unknown or has no duration.
    """
    parts = []
    words = text.split(",")
    for index, word in enumerate(words):
        name, _, seconds = word.strip().partition(":")
        duration = float(seconds) if seconds else np.inf
        if name not in MOTIONS and not Path(name).is_file():
            known = ", ".join(MOTIONS)
            msg = f"motion: expected {known}, or a file, got '{name}'"
            raise ValueError(msg)
        if duration <= 0 or (duration == np.inf and index < len(words) - 1):
            msg = f"motion '{name}': expected '{name}:<seconds>', got '{word.strip()}'"
            raise ValueError(msg)
        parts.append(ProgramStep(name, duration))
    return tuple(parts)


def read_motion(path: Path, names: Sequence[str], body: Body) -> HandMotion | None:
    """Return the motion in a file; None without these joints.

    A CSV has a column ``time`` (or ``t``) and one per joint; an NPZ ``time``, ``q``
    (rows, joints) and ``joint_names``. Joints are ``<limb>/<joint>`` or ``<joint>``;
    missing ones stay at home.
    """
    time, columns = read_columns(path)
    found = {
        index: columns[key]
        for index, name in enumerate(names)
        for key in (name, name.split("/", 1)[1])
        if key in columns
    }
    if not found:
        return None

    def motion(t: float) -> Vec:
        q = body.home.copy()
        for index, values in found.items():
            q[index] = np.interp(t + time[0], time, values)
        return q

    return motion


def read_columns(path: Path) -> tuple[Vec, dict[str, Vec]]:
    """Return times and columns of a CSV or NPZ file.

    Raises:
        ValueError: If invalid.
    """
    try:
        columns = read_npz(path) if path.suffix == ".npz" else read_csv(path)
    except (OSError, KeyError, IndexError, BadZipFile) as error:
        raise ValueError(f"{path}: expected a motion, got {error}") from error
    for key in ("time", "t"):
        if key in columns:
            return columns.pop(key), columns
    msg = f"{path}: expected a column 'time', got {', '.join(columns)}"
    raise ValueError(msg)


def read_npz(path: Path) -> dict[str, Vec]:
    """Return an NPZ file's columns."""
    with np.load(path, allow_pickle=False) as arrays:
        q = arrays["q"]
        names = [str(name) for name in arrays["joint_names"]]
        columns = {name: q[:, i] for i, name in enumerate(names)}
        if "time" in arrays:
            columns["time"] = arrays["time"]
    return columns


def read_csv(path: Path) -> dict[str, Vec]:
    """Return a CSV file's columns."""
    table: Any = np.genfromtxt(
        path, delimiter=",", names=True, deletechars="", replace_space="_"
    )
    return {name: np.atleast_1d(table[name]) for name in table.dtype.names or ()}


class ProgramPlayer:
    """Plays a program on one arm."""

    def __init__(self, body: Body, names: Sequence[str]) -> None:
        self.is_holding = True
        self._body, self._names = body, names
        self._parts: list[ProgramStep] = []
        self._files: Mapping[str, HandMotion] = {}
        self._begin = 0.0
        self._start = self._last = body.home
        self._motion: HandMotion = still(body, body.home)
        self._duration = np.inf

    def play(self, program: Sequence[ProgramStep], t: float) -> bool:
        """Play from t [s]; return whether files have joints."""
        files = {
            part.name: read_motion(Path(part.name), self._names, self._body)
            for part in program
            if part.name not in MOTIONS
        }
        self._files = {
            name: motion or still(self._body, self._body.home)
            for name, motion in files.items()
        }
        self._parts = list(program)
        self._next(t)
        return None not in files.values()

    def go_to(self, places: Mapping[int, float], t: float) -> None:
        """Move joints by index, [rad], at t [s]."""
        goal = self._last.copy()
        for index, place in places.items():
            goal[index] = place
        self._parts, self._duration = [], np.inf
        self._begin, self._start = t, self._last
        self._motion = lambda _: goal

    def _next(self, t: float) -> None:
        part = self._parts.pop(0)
        self._begin, self._start, self._duration = t, self._last, part.duration
        if part.name in MOTIONS:
            self._motion = MOTIONS[part.name](self._body, self._start)
        else:
            self._motion = self._files[part.name]

    def sample(self, t: float) -> Vec:
        """Return the positions at t [s], [rad]."""
        if t - self._begin >= self._duration and self._parts:
            self._next(self._begin + self._duration)
        at = t - self._begin
        q = self._motion(at)
        if at < BLEND:
            q = self._start + smooth(at / BLEND) * (q - self._start)
        self._last = q
        return q
