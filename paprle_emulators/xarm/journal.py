"""Journal of the emulated arm: received requests, servo targets and states.

Stamps are monotonic, [ns].

    rx,STAMP,REGISTER,HEX              a request, other than servo targets and queries
    servo,STAMP,COUNTS,q1,…,qn         a servo target, and whether it counts  [rad]
    set,STAMP,NAME,x1,…                a setting that the box took: load [kg], [mm];
                                       sensitivity; tool [mm], [rad]
    arm,STAMP,MODE,STATE,ERROR,POWERED,GRIPPER,q1,…,qn,dq1,…,dqn   once a cycle
    fault,STAMP,JSON                   an order from standard input
"""

from __future__ import annotations

from dataclasses import dataclass
from io import TextIOBase
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paprle_emulators.xarm.arm import Arm

Vec = npt.NDArray[np.float64]
Stamps = npt.NDArray[np.int64]


class Journal:
    """Writes to a file, if open."""

    def __init__(self, file: TextIOBase | None) -> None:
        self._file = file

    def write_request(self, stamp_ns: int, register: int, data: bytes) -> None:
        """Write a request."""
        self._write(f"rx,{stamp_ns},{register},{data.hex()}")

    def write_target(
        self, stamp_ns: int, target: tuple[float, ...], *, counts: bool
    ) -> None:
        """Write a servo target."""
        numbers = ",".join(f"{x:.9g}" for x in target)
        self._write(f"servo,{stamp_ns},{int(counts)},{numbers}")

    def write_setting(
        self, stamp_ns: int, name: str, values: tuple[float, ...]
    ) -> None:
        """Write a setting."""
        numbers = ",".join(f"{x:.9g}" for x in values)
        self._write(f"set,{stamp_ns},{name},{numbers}")

    def write_arm(self, stamp_ns: int, arm: Arm) -> None:
        """Write and flush the arm's state."""
        gripper = 0.0 if arm.gripper is None else arm.gripper.position
        numbers = ",".join(f"{x:.7f}" for x in (gripper, *arm.q, *arm.dq))
        flags = f"{arm.mode:d},{arm.state:d},{arm.error},{int(arm.is_enabled.all())}"
        self._write(f"arm,{stamp_ns},{flags},{numbers}")
        if self._file is not None:
            self._file.flush()

    def write_fault(self, stamp_ns: int, order: str) -> None:
        """Write an order."""
        self._write(f"fault,{stamp_ns},{order}")

    def _write(self, line: str) -> None:
        if self._file is not None:
            self._file.write(line + "\n")


@dataclass(frozen=True)
class Record:
    """A journal read back: K requests, N targets, M states of n joints.

    Attributes:
        registers: Shape (K,).
        register_stamps: Shape (K,), [ns].
        stamps: Shape (N,), [ns].
        commands: Shape (N, n), [rad].
        counts: Taken, shape (N,).
        state_stamps: Shape (M,), [ns].
        q: Shape (M, n), [rad].
        dq: Shape (M, n), [rad/s].
        gripper: Shape (M,), [pulses].
        flags: Mode, state, error, power of all joints, shape (M, 4).
        settings: Stamp, [ns], name and values of taken settings, in order.
    """

    registers: Stamps
    register_stamps: Stamps
    stamps: Stamps
    commands: Vec
    counts: npt.NDArray[np.bool_]
    state_stamps: Stamps
    q: Vec
    dq: Vec
    gripper: Vec
    flags: Stamps
    settings: tuple[tuple[int, str, tuple[float, ...]], ...]

    def find_setting(self, name: str) -> tuple[float, ...] | None:
        """Return the newest values of a setting, or None."""
        found = [values for _, key, values in self.settings if key == name]
        return found[-1] if found else None


def read_journal(path: Path) -> Record:
    """Return a journal's whole lines."""
    lines = [
        line.split(",") for line in path.read_text(encoding="ascii").split("\n")[:-1]
    ]
    rx = [w for w in lines if w[0] == "rx"]
    servo = [w for w in lines if w[0] == "servo"]
    arm = [w for w in lines if w[0] == "arm"]
    numbers = np.array([[float(x) for x in w[6:]] for w in arm])
    n = (numbers.shape[1] - 1) // 2 if arm else 0
    return Record(
        registers=_read_whole([w[2] for w in rx]),
        register_stamps=_read_whole([w[1] for w in rx]),
        stamps=_read_whole([w[1] for w in servo]),
        commands=np.array([[float(x) for x in w[3:]] for w in servo]).reshape(-1, n),
        counts=np.array([w[2] == "1" for w in servo], dtype=bool),
        state_stamps=_read_whole([w[1] for w in arm]),
        q=numbers[:, 1 : 1 + n] if n else np.zeros((0, 0)),
        dq=numbers[:, 1 + n :] if n else np.zeros((0, 0)),
        gripper=numbers[:, 0] if n else np.zeros(0),
        flags=np.array([[int(x) for x in w[2:6]] for w in arm], dtype=np.int64),
        settings=tuple(
            (int(w[1]), w[2], tuple(float(x) for x in w[3:]))
            for w in lines
            if w[0] == "set"
        ),
    )


def _read_whole(words: list[str]) -> Stamps:
    return np.array([int(word) for word in words], dtype=np.int64)
