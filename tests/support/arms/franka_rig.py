"""An emulated Franka for tests: started as a user does, hurt by its own orders."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from paprle_emulators import start
from paprle_emulators.franka.journal import Record, read_journal
from paprle_emulators.franka.protocol import Mode

DT = 0.001  # [s] a cycle


@dataclass(frozen=True)
class Oracle:
    """A maker's limits, typed from "Robot limits" of its documentation.

    Attributes:
        table: Rows of q_min, q_max and V, and of what lowers V near an end: an offset,
            twice a deceleration, and its two ends; shape (7, 7).
        a: [rad/s²].
        j: [rad/s³].
        package: Of the SDK that drives it.
    """

    table: np.ndarray
    a: np.ndarray
    j: np.ndarray
    package: str

    def find_room(self, q, dq):
        """Return how fast each joint may be at q in the direction of dq, [rad/s]."""
        _, _, v, offset, twice, first, last = self.table.T
        up = np.sqrt(np.maximum(twice * (last - q), 0)) - offset
        down = np.sqrt(np.maximum(twice * (q - first), 0)) - offset
        room = np.minimum(v, np.where(dq > 0, up, down))
        return np.where(twice > 0, np.maximum(room, 1e-9), v)


ORACLES = {
    "fr3": Oracle(
        np.array(
            [
                [-2.7437, 2.7437, 2.62, 0.30, 12.00, -2.750100, 2.75010],
                [-1.7837, 1.7837, 2.62, 0.20, 5.17, -1.791800, 1.79180],
                [-2.9007, 2.9007, 2.62, 0.20, 7.00, -2.906500, 2.90650],
                [-3.0421, -0.1518, 2.62, 0.30, 8.00, -3.048100, -0.14580],
                [-2.8065, 2.8065, 5.26, 0.35, 34.0, -2.810100, 2.81010],
                [0.5445, 4.5169, 4.18, 0.35, 11.0, 0.540920, 4.52050],
                [-3.0159, 3.0159, 5.26, 0.35, 34.0, -3.019600, 3.01960],
            ]
        ),
        np.full(7, 10.0),
        np.full(7, 5000.0),
        "pylibfranka",
    ),
    "panda": Oracle(
        np.array(
            [
                [-2.8973, 2.8973, 2.1750, 0, 0, 0, 0],
                [-1.7628, 1.7628, 2.1750, 0, 0, 0, 0],
                [-2.8973, 2.8973, 2.1750, 0, 0, 0, 0],
                [-3.0718, -0.0698, 2.1750, 0, 0, 0, 0],
                [-2.8973, 2.8973, 2.6100, 0, 0, 0, 0],
                [-0.0175, 3.7525, 2.6100, 0, 0, 0, 0],
                [-2.8973, 2.8973, 2.6100, 0, 0, 0, 0],
            ]
        ),
        np.array([15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0]),
        np.array([7500.0, 3750.0, 5000.0, 6250.0, 7500.0, 10000.0, 10000.0]),
        "panda_py",
    ),
}
# of a client that is a process, "sdk" has libfranka's classes
IMPORTS = {
    "fr3": "import pylibfranka as sdk",
    "panda": "from panda_py import libfranka as sdk",
}
RATED = 100  # spec: robot_state.h, cycles of control_command_success_rate
PUNCTUAL = 0.98  # chosen: share of cycles with a command
LONGEST_GAP = 0.02  # [s] spec: FCI documentation, the twentieth lost command stops it


class EmulatedFranka:
    """One ``paprle-emulate franka`` at an address of its own, and its journal.

    Its unit waits for a late command unless ``ideal`` is false, so that a busy computer
    is none of its faults.
    """

    def __init__(
        self, folder: Path, model: str = "fr3", *, ideal: bool = True, **settings
    ) -> None:
        self.log, self.model = folder / "arm.log", model
        words = {"model": model, "ideal": ideal, "address": "own", **settings}
        self._rig = start("franka", log=self.log, **words)
        self.host = self._rig.port

    @property
    def args(self) -> list[str]:
        """Words of the command line that drive it."""
        return [f"follower={self.model}", "env=franka", *self._rig.overrides]

    def do(self, fault: str, **arguments) -> int:
        """Give an order and return when it was done, [ns]."""
        return self._rig.order({"fault": fault, **arguments})["stamp_ns"]

    def read(self) -> Record:
        return read_journal(self.log)

    def judge(self) -> Verdict:
        """Return the verdict on its motion so far."""
        return judge_motion(self.read(), self.model)

    def kill(self) -> None:
        self._rig.process.kill()
        self._rig.process.wait()

    def end(self) -> int:
        """End it as a user does; return its exit code."""
        return self._rig.stop()


@contextlib.contextmanager
def running_franka(folder: Path, model: str = "fr3", **settings):
    arm = EmulatedFranka(folder, model, **settings)
    try:
        yield arm
    finally:
        arm.end()


@dataclass(frozen=True)
class Verdict:
    """The largest share of each limit that commanded motion used; 1: all of it."""

    q: float
    dq: float
    ddq: float
    dddq: float
    n: int

    @property
    def is_ok(self) -> bool:
        return max(self.q, self.dq, self.ddq, self.dddq) <= 1.0 + 1e-6


def judge_motion(record: Record, model: str = "fr3") -> Verdict:
    """Judge every cycle of motion by differences of the desired joints."""
    oracle = ORACLES[model]
    q = record.q_d
    dq = np.diff(q, axis=0, prepend=q[:1]) / DT
    ddq = np.diff(dq, axis=0, prepend=dq[:1]) / DT
    dddq = np.diff(ddq, axis=0, prepend=ddq[:1]) / DT
    is_judged = (record.flags[:, 1] == Mode.MOVE) & (record.flags[:, 2] == 0)
    q, dq, ddq, dddq = (x[is_judged] for x in (q, dq, ddq, dddq))
    room = oracle.find_room(q - DT * dq, dq)
    low, high = oracle.table.T[:2]
    middle, half = 0.5 * (high + low), 0.5 * (high - low)
    return Verdict(
        q=float((np.abs(q - middle) / half).max()),
        dq=float((np.maximum(np.abs(dq) - 1e-6, 0) / room).max()),
        ddq=float((np.abs(ddq) / oracle.a).max()),
        dddq=float((np.abs(dddq) / oracle.j).max()),
        n=int(is_judged.sum()),
    )


@dataclass(frozen=True)
class Punctuality:
    """Arrival of commands at the unit during motion.

    Attributes:
        share: Cycles of motion with a command, 0 … 1.
        worst: The least of ``control_command_success_rate``, over 100 cycles.
        gap: The longest between two commands of a motion, [s].
    """

    share: float
    worst: float
    gap: float


def find_punctuality(record: Record) -> Punctuality:
    """Judge the stamps of packets, whatever the unit's own cycles did meanwhile."""
    is_moving = record.flags[:, 1] == Mode.MOVE
    has_command = (record.flags[is_moving, 2] == 0).astype(np.float64)
    if len(has_command) < RATED:
        return Punctuality(0.0, 0.0, 0.0)
    rates = np.convolve(has_command, np.full(RATED, 1.0 / RATED), "valid")
    starts = record.state_stamps[1:][np.diff(is_moving.astype(int)) == 1]
    gaps = np.diff(record.stamps) * 1e-9
    between = np.searchsorted(starts, record.stamps, "right")
    return Punctuality(
        share=float(has_command.mean()),
        worst=float(rates.min()),
        gap=float(gaps[np.diff(between) == 0].max(initial=0.0)),
    )


def find_late(record: Record) -> str:
    """Return why commands were not on time, or ""."""
    found = find_punctuality(record)
    if found.share >= PUNCTUAL and found.gap <= LONGEST_GAP:
        return ""
    return (
        f"expected commands in {PUNCTUAL:.0%} of cycles and gaps of at most "
        f"{1e3 * LONGEST_GAP:g} ms, got {found.share:.1%} and {1e3 * found.gap:.1f} ms"
    )


def count_commands(record: Record, begin_ns: int, end_ns: int) -> int:
    """How many commands came in a span of time."""
    return int(((record.stamps > begin_ns) & (record.stamps <= end_ns)).sum())


def find_rest(record: Record, after_ns: int) -> float:
    """How long joints moved faster than 0.01 rad/s after a time, by cycles, [s]."""
    late = record.state_stamps > after_ns
    ids = np.flatnonzero(np.abs(record.dq[late]).max(axis=1) > 0.01)
    return DT * float(ids[-1] + 1) if len(ids) else 0.0


def wait_until(is_met, timeout: float = 5.0) -> None:
    end = time.monotonic() + timeout
    while not is_met():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.01)
