"""Journal of the emulated arm: requests, commands and cycles.

Stamps are monotonic, [ns].

    rx,STAMP,COMMAND,HEX                   a request of the robot's port
    cmd,STAMP,MESSAGE,SENT,q1,…,q7         a command, the state that it answers and the
                                           last one sent  [rad]
    arm,STAMP,MESSAGE,MODE,LOST,ERROR,WIDTH,qd1,…,qd7,q1,…,q7,dq1,…,dq7   once a cycle
    fault,STAMP,JSON                       an order from standard input

LOST: 1 if a motion had no command in that cycle; ERROR: the lowest error, or -1.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import TextIOBase
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paprle_emulators.franka.arm import Arm

Vec = npt.NDArray[np.float64]
Stamps = npt.NDArray[np.int64]


class Journal:
    """Writes to a file, if open."""

    def __init__(self, file: TextIOBase | None) -> None:
        self._file = file

    def write_request(self, stamp_ns: int, command: int, data: bytes) -> None:
        """Write a request."""
        self._write(f"rx,{stamp_ns},{command},{data.hex()}")

    def write_command(self, stamp_ns: int, message: int, sent: int, q: Vec) -> None:
        """Write a command (7,), [rad]."""
        self._write(f"cmd,{stamp_ns},{message},{sent},{_join(q)}")

    def write_arm(self, stamp_ns: int, message: int, arm: Arm, width: float) -> None:
        """Write the arm and the hand's width, [m]."""
        if self._file is None:
            return
        lost = int(arm.n_lost > 0)
        flags = f"{arm.mode:d},{lost},{arm.errors.find(1)},{width:.6f}"
        numbers = f"{_join(arm.q_d)},{_join(arm.q)},{_join(arm.dq)}"
        self._write(f"arm,{stamp_ns},{message},{flags},{numbers}")

    def write_fault(self, stamp_ns: int, order: str) -> None:
        """Write an order."""
        self._write(f"fault,{stamp_ns},{order}")

    def flush(self) -> None:
        """Flush the file."""
        if self._file is not None:
            self._file.flush()

    def _write(self, line: str) -> None:
        if self._file is not None:
            self._file.write(line + "\n")


def _join(values: Vec) -> str:
    return ",".join(map(repr, values.tolist()))


@dataclass(frozen=True)
class Record:
    """A journal read back: K requests, N commands and M cycles.

    Attributes:
        requests: Shape (K,).
        request_stamps: Shape (K,), [ns].
        stamps: Shape (N,), [ns].
        answered: Answered and last sent state, shape (N, 2).
        commands: Shape (N, 7), [rad].
        state_stamps: Shape (M,), [ns].
        flags: Message, mode, lost and error, shape (M, 4).
        width: Shape (M,), [m].
        q_d: Shape (M, 7), [rad].
        q: Measured, [rad].
        dq: [rad/s].
    """

    requests: Stamps
    request_stamps: Stamps
    stamps: Stamps
    answered: Stamps
    commands: Vec
    state_stamps: Stamps
    flags: Stamps
    width: Vec
    q_d: Vec
    q: Vec
    dq: Vec


def read_journal(path: Path) -> Record:
    """Return a journal's whole lines."""
    lines = [
        line.split(",") for line in path.read_text(encoding="ascii").split("\n")[:-1]
    ]
    rx = [w for w in lines if w[0] == "rx"]
    cmd = [w for w in lines if w[0] == "cmd"]
    arm = [w for w in lines if w[0] == "arm"]
    numbers = _read([w[6:] for w in arm], 22)
    return Record(
        requests=_read_whole([w[2] for w in rx]),
        request_stamps=_read_whole([w[1] for w in rx]),
        stamps=_read_whole([w[1] for w in cmd]),
        answered=_read_whole([x for w in cmd for x in w[2:4]]).reshape(-1, 2),
        commands=_read([w[4:] for w in cmd], 7),
        state_stamps=_read_whole([w[1] for w in arm]),
        flags=_read_whole([x for w in arm for x in w[2:6]]).reshape(-1, 4),
        width=numbers[:, 0],
        q_d=numbers[:, 1:8],
        q=numbers[:, 8:15],
        dq=numbers[:, 15:],
    )


def _read(rows: list[list[str]], n: int) -> Vec:
    return np.array(rows, dtype=np.float64).reshape(-1, n)


def _read_whole(words: list[str]) -> Stamps:
    return np.array([int(word) for word in words], dtype=np.int64)
