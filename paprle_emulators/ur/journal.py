"""Journal of the emulated robot: received goals and motion.

Stamps are monotonic, [ns].

    servoj,STAMP,q1,…,q6,lookahead,gain          a goal as it came, [rad], [s]
    arm,STAMP,q1,…,q6,dq1,…,dq6,robot_mode,safety_mode,runtime_state,scaling
    event,STAMP,TEXT                             a script, a stop, an order
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from io import TextIOBase
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paprle_emulators.ur.controller import Controller

Vec = npt.NDArray[np.float64]
Stamps = npt.NDArray[np.int64]
_LOOKAHEAD, _GAIN = 9, 10  # spec: registers of ur_rtde's servoJ


class Journal:
    """Writes to a file, if open."""

    def __init__(self, file: TextIOBase | None) -> None:
        self._file = file

    def write_goal(self, values: Sequence[float]) -> None:
        """Write a ``servoJ``'s double registers."""
        told = (*values[:6], values[_LOOKAHEAD], values[_GAIN])
        self._write("servoj", ",".join(f"{x:.9f}" for x in told))

    def write_arm(self, controller: Controller) -> None:
        """Write and flush the arm's state."""
        arm = controller.arm
        numbers = ",".join(f"{x:.7f}" for x in (*arm.q, *arm.dq))
        modes = controller.robot_mode, controller.safety_mode, controller.runtime
        told = ",".join(f"{mode:d}" for mode in modes)
        self._write("arm", f"{numbers},{told},{controller.scaling:.3f}")
        if self._file is not None:
            self._file.flush()

    def write_event(self, text: str) -> None:
        """Write an event."""
        self._write("event", text.replace("\n", " "))

    def _write(self, kind: str, text: str) -> None:
        if self._file is not None:
            self._file.write(f"{kind},{time.monotonic_ns()},{text}\n")


@dataclass(frozen=True)
class Record:
    """A journal read back; N goals and M states.

    Attributes:
        stamps: Shape (N,), [ns].
        goals: Shape (N, 6), [rad].
        state_stamps: Shape (M,), [ns].
        q: Shape (M, 6), [rad].
        dq: Shape (M, 6), [rad/s].
        modes: Robot, safety and runtime, shape (M, 3).
    """

    stamps: Stamps
    goals: Vec
    state_stamps: Stamps
    q: Vec
    dq: Vec
    modes: Stamps
    events: list[tuple[int, str]]


def read_journal(path: Path) -> Record:
    """Return a journal's whole lines."""
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    rows = [line.split(",", 2) for line in lines]
    goals = [(int(at), rest.split(",")) for kind, at, rest in rows if kind == "servoj"]
    arm = [(int(at), rest.split(",")) for kind, at, rest in rows if kind == "arm"]
    numbers = np.array([words[:12] for _, words in arm], dtype=float).reshape(-1, 12)
    return Record(
        stamps=np.array([at for at, _ in goals], dtype=np.int64),
        goals=np.array([w[:6] for _, w in goals], dtype=float).reshape(-1, 6),
        state_stamps=np.array([at for at, _ in arm], dtype=np.int64),
        q=numbers[:, :6],
        dq=numbers[:, 6:],
        modes=np.array([w[12:15] for _, w in arm], dtype=np.int64).reshape(-1, 3),
        events=[(int(at), rest) for kind, at, rest in rows if kind == "event"],
    )
