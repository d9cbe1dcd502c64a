"""Detection of the limp arm moved by a hand."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from paprle.contracts.searches.arm_search import ArmSearch, ReadAngles
from paprle.contracts.types import Vec
from paprle.ipc.loop import DeadlineLoop

MOVED = 0.25
"""Turn of a joint that only a hand makes, [rad]. chosen: a hand's width at the jaws."""
STIRRED = 0.08
"""Turn beyond which an arm does not stand, [rad]. chosen: ten times what a held arm
gives way."""
PATIENCE = 20.0
"""Longest wait for a motion, [s]. chosen: a person walks to the arm and back."""

_RATE = 50.0  # [Hz] chosen: a reading of two arms takes 5 ms
_LASTING = 5  # readings. chosen: 0.1 s; a hand stays longer, a damaged reading does not


@dataclass(frozen=True, slots=True)
class Moved:
    """The result of a watch.

    Attributes:
        path: Port of the moved arm; may be empty.
        reason: Of a failure, with advice.
    """

    path: str = ""
    reason: str = ""


class Excursion:
    """Largest lasting turn of an arm's joints, [rad]."""

    def __init__(self) -> None:
        self.turn = 0.0
        self._first: Vec | None = None
        self._recent: list[float] = []

    def add(self, angles: Vec) -> None:
        """Add a reading, shape (n,), [rad]; silent servos are NaN."""
        if self._first is None or np.isnan(self._first).any():
            known = angles if self._first is None else self._first
            self._first = np.where(np.isnan(known), angles, known)
        apart = (angles - self._first + np.pi) % (2.0 * np.pi) - np.pi
        far = float(np.nanmax(np.abs(apart), initial=0.0))
        self._recent = [*self._recent[1 - _LASTING :], far]
        if len(self._recent) == _LASTING:
            self.turn = max(self.turn, min(self._recent))


def decide(turns: Mapping[str, float]) -> Moved | None:
    """Return the decision by each arm's turn [rad]; None: not yet."""
    moved = [path for path, turn in turns.items() if turn >= MOVED]
    stirred = [path for path, turn in turns.items() if turn >= STIRRED]
    if not moved:
        return None
    if len(stirred) > 1:
        return Moved(
            reason=f"expected one arm to move, got {' and '.join(stirred)}; let the "
            "others rest and move the leader alone"
        )
    return Moved(moved[0])


def watch_ports(
    search: ArmSearch,
    paths: list[str],
    clock: Callable[[], int] = time.monotonic_ns,
    sleep: Callable[[float], None] = time.sleep,  # noqa: TID251 - the loop waits
) -> Moved:
    """Return the arm moved within ``PATIENCE``.

    Raises:
        DeviceError: If a port is gone.
    """
    with ExitStack() as stack:
        sources = {path: stack.enter_context(search.watch(path)) for path in paths}
        return _watch(sources, clock, sleep)


def _watch(
    sources: Mapping[str, ReadAngles],
    clock: Callable[[], int],
    sleep: Callable[[float], None],
) -> Moved:
    seen = {path: Excursion() for path in sources}
    loop, end_ns = DeadlineLoop(_RATE, clock, sleep), clock() + round(1e9 * PATIENCE)
    while clock() < end_ns:
        for path, read in sources.items():
            seen[path].add(read())
        found = decide({path: one.turn for path, one in seen.items()})
        if found is not None:
            return found
        loop.wait()
    most = max(one.turn for one in seen.values())
    return Moved(
        reason=f"expected an arm to turn by {np.degrees(MOVED):.0f} [deg] within "
        f"{PATIENCE:g} [s], got {np.degrees(most):.0f}; move the leader's upper arm by "
        "a hand's width. An arm that cannot be moved by hand has torque: it is the "
        "follower, or another program holds it"
    )
