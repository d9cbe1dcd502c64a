"""Guided calibration of a limp servo arm."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Generator, Mapping, Sequence

import numpy as np

from paprle.contracts.kit.calibration.arm import (
    JointFit,
    JointModel,
    RecordedPostures,
    fit_arm,
)
from paprle.contracts.types import Vec

Read = Callable[[], Vec]
"""Returns the newest angles of the servos, unwrapped, shape (n,), [rad]."""

_PERIOD = 0.02  # [s] chosen: a hand turns a joint by a few degrees in it
_WATCH = 0.3  # [s] chosen: a hand that holds a posture is still for so long
_STILL = math.radians(1.5)  # chosen: a held joint sways less


def calibrate_arm(
    joints: Sequence[JointModel], words: Mapping[str, str], read: Read
) -> Generator[str, str, list[JointFit]]:
    """Return each joint's fit; ask again until nothing is wrong.

    ``joints`` run from base to hand, the gripper last; ``words`` are the hand's motion
    at each positive turn. Requests are yielded; Enter answers them.
    """
    trouble = ""
    while True:
        middle = yield from _ask_posture(trouble + _describe_middle(joints), read)
        shown = yield from _ask_posture(_describe_shown(joints, words), read)
        sweep = yield from _ask_sweep(joints, read)
        fits, problems = fit_arm(
            joints, RecordedPostures(middle=middle, shown=shown, sweep=sweep)
        )
        if not problems:
            return fits
        trouble = "\n".join(problems) + "\nonce more, from the beginning:\n"


def _describe_middle(joints: Sequence[JointModel]) -> str:
    named = ", ".join(joint.name for joint in joints)
    return (
        f"put each joint ({named}) in the middle of its travel, as in the picture of "
        "the robot's page, and hold the arm still"
    )


def _describe_shown(joints: Sequence[JointModel], words: Mapping[str, str]) -> str:
    rows = [
        f"  {joint.name}: by {math.degrees(abs(joint.q_shown)):.0f} [deg], so that "
        f"{words[joint.name]}"
        for joint in joints
    ]
    return "\n".join(["from there turn each joint, and hold the arm still:", *rows])


def _ask_posture(text: str, read: Read) -> Generator[str, str, Vec]:
    asked = text
    while True:
        yield asked
        with Sampler(read) as sampler:
            sampler.wait(_WATCH)
        rows = np.array(sampler.rows)
        if (
            len(rows)
            and np.isfinite(rows).all()
            and np.ptp(rows, axis=0).max() < _STILL
        ):
            mean: Vec = rows.mean(axis=0)
            return mean
        asked = f"{text} (expected all servos to answer and to stand still)"


def _ask_sweep(joints: Sequence[JointModel], read: Read) -> Generator[str, str, Vec]:
    named = ", ".join(joint.name for joint in joints)
    with Sampler(read) as sampler:
        yield (
            "turn each joint to both of its stops, one after the other, from the base "
            f"to the hand: {named}; press Enter when all are done"
        )
    rows = np.array(sampler.rows)
    kept: Vec = rows[np.isfinite(rows).all(axis=1)]
    return kept


class Sampler:
    """Thread that samples angles into ``rows``, (n,), [rad]."""

    def __init__(self, read: Read) -> None:
        self.rows: list[Vec] = []
        self._read, self._ended = read, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Sampler:
        self.rows.append(self._read())
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def wait(self, seconds: float) -> None:
        """Sample for a time, [s]."""
        self._ended.wait(seconds)

    def _run(self) -> None:
        while not self._ended.wait(_PERIOD):
            self.rows.append(self._read())
