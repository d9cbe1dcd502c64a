"""Journal of the emulated arm: requests, commands and cycles.

Stamps are monotonic, [ns].

    rx,STAMP,COMMAND,HEX                   a request of the robot's port, by ``Command``
    cmd,STAMP,MESSAGE,SENT,q1,…,q7         a command, the state that it answers and the
                                           last one sent  [rad]
    arm,STAMP,MESSAGE,MODE,LOST,ERROR,WIDTH,qd1,…,qd7,q1,…,q7,dq1,…,dq7   once a cycle
    fault,STAMP,JSON                       an order from standard input

LOST: 1 if a motion had no command in that cycle; ERROR: the lowest error, or -1.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from paprle_emulators.franka.arm import Arm
from paprle_emulators.vendor_arm.journal import (
    Journal,
    Stamps,
    Vec,
    join,
    read_numbers,
    read_rows,
    read_stamps,
    read_whole,
)


class UnitJournal(Journal):
    """Lines of arm and unit."""

    def write_request(self, stamp_ns: int, command: int, data: bytes) -> None:
        """Write a request."""
        self.write("rx", stamp_ns, f"{command},{data.hex()}")

    def write_command(self, stamp_ns: int, message: int, sent: int, q: Vec) -> None:
        """Write a command (7,), [rad]."""
        self.write("cmd", stamp_ns, f"{message},{sent},{join(q)}")

    def write_arm(self, stamp_ns: int, message: int, arm: Arm, width: float) -> None:
        """Write the arm and the hand's width, [m]."""
        if not self.is_open:
            return
        lost = int(arm.n_lost > 0)
        flags = f"{arm.mode:d},{lost},{arm.errors.find(1)},{width:.6f}"
        numbers = f"{join(arm.q_d)},{join(arm.q)},{join(arm.dq)}"
        self.write("arm", stamp_ns, f"{message},{flags},{numbers}")


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
    rows = read_rows(path)
    rx, cmd, arm = (rows.get(kind, []) for kind in ("rx", "cmd", "arm"))
    numbers = read_numbers(arm, 4).reshape(-1, 22)
    return Record(
        requests=read_whole(rx, 0, 1)[:, 0],
        request_stamps=read_stamps(rx),
        stamps=read_stamps(cmd),
        answered=read_whole(cmd, 0, 2),
        commands=read_numbers(cmd, 2).reshape(-1, 7),
        state_stamps=read_stamps(arm),
        flags=read_whole(arm, 0, 4),
        width=numbers[:, 0],
        q_d=numbers[:, 1:8],
        q=numbers[:, 8:15],
        dq=numbers[:, 15:],
    )
