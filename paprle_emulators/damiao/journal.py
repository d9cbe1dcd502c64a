"""Journal of the emulated arm: received frames and the plant's state.

Stamps are monotonic, [ns].

    rx,STAMP,ID,HEX                       a frame that reached the motors
    arm,STAMP,STATUSES,q…,dq…,tau…        motors in order; statuses as hex digits, "-":
                                          no power; [rad], [rad/s], [N·m]
    hand,STAMP,q…,tau…,work…              of a leader's hand: [rad], [N·m], [J]
    fault,STAMP,JSON                      an order from standard input
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import TextIOBase
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paprle_emulators.damiao.models import MOTORS, ArmTable
from paprle_emulators.damiao.motor import Motor
from paprle_emulators.damiao.plant import Plant
from paprle_emulators.damiao.protocol import SPECIAL, unpack_mit
from paprle_emulators.piper.protocol import Frame

Vec = npt.NDArray[np.float64]
Stamps = npt.NDArray[np.int64]


class Journal:
    """Writes to a file, if open."""

    def __init__(self, file: TextIOBase | None) -> None:
        self._file = file

    def write_command(self, stamp_ns: int, frame: Frame) -> None:
        """Write a received frame."""
        self._write(f"rx,{stamp_ns},{frame.can_id:#x},{frame.data.hex()}")

    def write_arm(self, stamp_ns: int, plant: Plant, motors: Sequence[Motor]) -> None:
        """Write and flush the arm's state."""
        numbers = ",".join(f"{x:.6f}" for x in (*plant.q, *plant.dq, *plant.tau))
        flags = "".join(f"{m.status:x}" if m.has_power else "-" for m in motors)
        self._write(f"arm,{stamp_ns},{flags},{numbers}")
        if self._file is not None:
            self._file.flush()

    def write_hand(self, stamp_ns: int, plant: Plant) -> None:
        """Write the hand's goal, torques and work."""
        row = (*plant.hand_q, *plant.tau_hand, *plant.hand_work)
        self._write(f"hand,{stamp_ns}," + ",".join(f"{x:.6f}" for x in row))

    def write_fault(self, stamp_ns: int, order: str) -> None:
        """Write an order."""
        self._write(f"fault,{stamp_ns},{order}")

    def _write(self, line: str) -> None:
        if self._file is not None:
            self._file.write(line + "\n")


@dataclass(frozen=True)
class Record:
    """A journal read back; n motors, N commands and M states.

    Attributes:
        stamps: Of complete rounds, shape (N,), [ns].
        q_des: Shape (N, n), [rad].
        kp: [N·m/rad].
        tau_ff: [N·m].
        specials: Time, ID and last byte.
        state_stamps: Shape (M,), [ns].
        statuses: Hex digits of each state.
        q: Shape (M, n), [rad].
        dq: [rad/s].
        tau: [N·m].
        q_hand: Its goal, [rad]; (0, n): no hand.
        tau_hand: [N·m].
        work: Of the hand, [J].
    """

    stamps: Stamps
    q_des: Vec
    kp: Vec
    tau_ff: Vec
    specials: list[tuple[int, int, int]]
    state_stamps: Stamps
    statuses: list[str]
    q: Vec
    dq: Vec
    tau: Vec
    q_hand: Vec
    tau_hand: Vec
    work: Vec


def read_journal(path: Path, arm: ArmTable) -> Record:
    """Return a journal's whole lines."""
    text = path.read_text(encoding="ascii")
    lines = [line.split(",") for line in text.split("\n")[:-1]]
    n = len(arm.motors)
    states = [w[1:] for w in lines if w[0] == "arm"]
    numbers = np.array([[float(x) for x in w[2:]] for w in states]).reshape(-1, 3 * n)
    frames = [
        (int(w[1]), int(w[2], 16), bytes.fromhex(w[3])) for w in lines if w[0] == "rx"
    ]
    stamps, rows = _join_commands(frames, arm)
    hand = np.array([[float(x) for x in w[2:]] for w in lines if w[0] == "hand"])
    hand = hand.reshape(-1, 3, n)
    table = np.array(rows).reshape(-1, n, 3)
    return Record(
        stamps=np.array(stamps, dtype=np.int64),
        q_des=table[:, :, 0],
        kp=table[:, :, 1],
        tau_ff=table[:, :, 2],
        specials=[
            (stamp, can_id, data[7])
            for stamp, can_id, data in frames
            if can_id <= n and data[:7] == SPECIAL
        ],
        state_stamps=np.array([int(w[0]) for w in states], dtype=np.int64),
        statuses=[w[1] for w in states],
        q=numbers[:, :n],
        dq=numbers[:, n : 2 * n],
        tau=numbers[:, 2 * n :],
        q_hand=hand[:, 0],
        tau_hand=hand[:, 1],
        work=hand[:, 2],
    )


def _join_commands(
    frames: list[tuple[int, int, bytes]], arm: ArmTable
) -> tuple[list[int], list[Vec]]:
    n = len(arm.motors)
    stamps: list[int] = []
    rows: list[Vec] = []
    newest = np.full((n, 3), np.nan)
    for stamp, can_id, data in frames:
        if not 1 <= can_id <= n or len(data) != 8 or data[:7] == SPECIAL:
            continue
        mit = unpack_mit(data, MOTORS[arm.motors[can_id - 1]].ranges)
        newest[can_id - 1] = mit.q, mit.kp, mit.tau
        if can_id == n:
            stamps.append(stamp)
            rows.append(newest.copy())
    return stamps, rows
