"""Journal of the emulated arm: received commands and states.

Stamps are monotonic, [ns].

    rx,STAMP,ID,HEX              a received frame
    arm,STAMP,q1,…,q6,opening,dq1,…,dq6,mode,status,enabled   [rad], [m], [rad/s]
    fault,STAMP,JSON             a command from standard input
"""

from __future__ import annotations

from dataclasses import dataclass
from io import TextIOBase
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paprle_emulators.piper.arm import EmulatedArm
from paprle_emulators.piper.protocol import (
    GRIPPER,
    JOINTS,
    N_JOINTS,
    Frame,
    from_millideg,
    unpack_gripper,
    unpack_pair,
)

Vec = npt.NDArray[np.float64]
Stamps = npt.NDArray[np.int64]


class Journal:
    """Writes to a file, if open."""

    def __init__(self, file: TextIOBase | None) -> None:
        self._file = file

    def write_command(self, stamp_ns: int, frame: Frame) -> None:
        """Write a received frame."""
        self._write(f"rx,{stamp_ns},{frame.can_id:#x},{frame.data.hex()}")

    def write_arm(self, stamp_ns: int, arm: EmulatedArm) -> None:
        """Write and flush the arm's state."""
        numbers = ",".join(f"{x:.7f}" for x in (*arm.q, arm.opening, *arm.dq))
        flags = "".join("1" if is_on else "0" for is_on in arm.is_enabled)
        self._write(f"arm,{stamp_ns},{numbers},{arm.mode:d},{arm.status:d},{flags}")
        if self._file is not None:
            self._file.flush()

    def write_fault(self, stamp_ns: int, command: str) -> None:
        """Write a command."""
        self._write(f"fault,{stamp_ns},{command}")

    def _write(self, line: str) -> None:
        if self._file is not None:
            self._file.write(line + "\n")


@dataclass(frozen=True)
class Record:
    """A journal read back; K frames, N commands and M states.

    Attributes:
        ids: Shape (K,).
        id_stamps: Shape (K,), [ns].
        stamps: Of complete commands, shape (N,), [ns].
        commands: Joints and opening, shape (N, 7), [rad], [m]; NaN: no opening yet.
        state_stamps: Shape (M,), [ns].
        q: Shape (M, 7), [rad], [m].
        dq: Shape (M, 6), [rad/s].
    """

    ids: Stamps
    id_stamps: Stamps
    stamps: Stamps
    commands: Vec
    state_stamps: Stamps
    q: Vec
    dq: Vec
    modes: Stamps
    is_enabled: npt.NDArray[np.bool_]


def read_journal(path: Path) -> Record:
    """Return a journal's whole lines."""
    text = path.read_text(encoding="ascii")
    lines = [line.split(",") for line in text.split("\n")[:-1]]
    frames = [(int(w[1]), int(w[2], 16), w[3]) for w in lines if w[0] == "rx"]
    arm = [w[1:] for w in lines if w[0] == "arm"]
    stamps, commands = _join_commands(frames)
    numbers = np.array([[float(x) for x in w[1:14]] for w in arm]).reshape(-1, 13)
    return Record(
        ids=np.array([can_id for _, can_id, _ in frames], dtype=np.int64),
        id_stamps=np.array([stamp for stamp, _, _ in frames], dtype=np.int64),
        stamps=np.array(stamps, dtype=np.int64),
        commands=np.array(commands).reshape(-1, N_JOINTS + 1),
        state_stamps=np.array([int(w[0]) for w in arm], dtype=np.int64),
        q=numbers[:, : N_JOINTS + 1],
        dq=numbers[:, N_JOINTS + 1 :],
        modes=np.array([[int(w[14]), int(w[15])] for w in arm], dtype=np.int64),
        is_enabled=np.array([w[16][:N_JOINTS] == "1" * N_JOINTS for w in arm]),
    )


def _join_commands(
    frames: list[tuple[int, int, str]],
) -> tuple[list[int], list[list[float]]]:
    stamps: list[int] = []
    commands: list[list[float]] = []
    parts: dict[int, tuple[int, int]] = {}
    opening = float("nan")
    for stamp, can_id, text in frames:
        data = bytes.fromhex(text)
        if can_id == GRIPPER:
            opening = unpack_gripper(data)[0] * 1e-6
        elif can_id in JOINTS:
            parts[can_id] = unpack_pair(data)
            if can_id == JOINTS[-1] and len(parts) == len(JOINTS):
                numbers = [x for key in JOINTS for x in parts[key]]
                commands.append([*map(from_millideg, numbers), opening])
                stamps.append(stamp)
                parts.clear()
    return stamps, commands
