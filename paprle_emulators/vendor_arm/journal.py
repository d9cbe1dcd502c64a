"""Journal of an emulated arm: goals, states, events and orders.

Stamps are monotonic, [ns]. Lines of every arm:

    goal,STAMP,q1,…,qn                     a goal that was taken  [rad]
    state,STAMP,FLAGS,q1,…,qn,dq1,…,dqn    once a cycle; whole numbers between spaces
    event,STAMP,TEXT                       of the controller, such as a stop
    fault,STAMP,JSON                       an order

A maker adds lines of its own by ``write``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import TextIOBase
from pathlib import Path

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]
Stamps = npt.NDArray[np.int64]
Row = tuple[int, str]
"""Stamp and the rest of a line."""


class Journal:
    """Writes to a file, if open."""

    def __init__(self, file: TextIOBase | None) -> None:
        self._file = file

    @property
    def is_open(self) -> bool:
        """Whether lines are kept."""
        return self._file is not None

    def write(self, kind: str, stamp_ns: int, text: str) -> None:
        """Write a line."""
        if self._file is not None:
            self._file.write(f"{kind},{stamp_ns},{text}\n")

    def write_goal(self, stamp_ns: int, q: Vec) -> None:
        """Write a goal (n,), [rad]."""
        self.write("goal", stamp_ns, join(q))

    def write_state(self, stamp_ns: int, flags: Sequence[int], q: Vec, dq: Vec) -> None:
        """Write a state, (n,), [rad], [rad/s], and a maker's flags."""
        if self._file is not None:
            words = " ".join(f"{int(flag)}" for flag in flags)
            self.write("state", stamp_ns, f"{words},{join(q)},{join(dq)}")

    def write_event(self, stamp_ns: int, text: str) -> None:
        """Write an event."""
        self.write("event", stamp_ns, text.replace("\n", " "))

    def write_fault(self, stamp_ns: int, order: str) -> None:
        """Write an order."""
        self.write("fault", stamp_ns, order)

    def flush(self) -> None:
        """Flush the file."""
        if self._file is not None:
            self._file.flush()


@dataclass(frozen=True)
class Record:
    """A journal read back: N goals and M states of n joints.

    Attributes:
        stamps: Shape (N,), [ns].
        goals: Shape (N, n), [rad].
        state_stamps: Shape (M,), [ns].
        flags: Shape (M, k).
        q: Shape (M, n), [rad].
        dq: Shape (M, n), [rad/s].
        events: Stamps and texts.
    """

    stamps: Stamps
    goals: Vec
    state_stamps: Stamps
    flags: Stamps
    q: Vec
    dq: Vec
    events: list[Row]


def join(values: Vec) -> str:
    """Return numbers that read back exactly."""
    return ",".join(map(repr, values.tolist()))


def read_rows(path: Path) -> dict[str, list[Row]]:
    """Return a journal's whole lines by kind."""
    rows: dict[str, list[Row]] = {}
    for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
        kind, stamp, text = line.split(",", 2)
        rows.setdefault(kind, []).append((int(stamp), text))
    return rows


def read_stamps(rows: Iterable[Row]) -> Stamps:
    """Return rows' stamps, (N,), [ns]."""
    return np.array([stamp for stamp, _ in rows], dtype=np.int64)


def read_numbers(rows: Iterable[Row], first: int = 0) -> Vec:
    """Return rows' numbers from a column on, (N, n)."""
    found = np.array([text.split(",")[first:] for _, text in rows], dtype=np.float64)
    return found if found.ndim == 2 else np.zeros((0, 0))


def read_whole(rows: Iterable[Row], first: int, last: int) -> Stamps:
    """Return rows' whole numbers of the columns [first, last), (N, n)."""
    found = [[int(word) for word in text.split(",")[first:last]] for _, text in rows]
    return np.array(found, dtype=np.int64).reshape(-1, last - first)


def read_record(path: Path) -> Record:
    """Return a journal's goals, states and events."""
    rows = read_rows(path)
    goals, states = rows.get("goal", []), rows.get("state", [])
    numbers = read_numbers(states, 1)
    n = numbers.shape[1] // 2
    flags = [[int(word) for word in t.partition(",")[0].split()] for _, t in states]
    return Record(
        stamps=read_stamps(goals),
        goals=read_numbers(goals).reshape(len(goals), -1 if goals else n),
        state_stamps=read_stamps(states),
        flags=np.array(flags, dtype=np.int64).reshape(len(states), -1 if flags else 0),
        q=numbers[:, :n],
        dq=numbers[:, n:],
        events=rows.get("event", []),
    )
