"""How far hand, robot and picture are apart, as only the operator's host can know it.

Three errors at one instant t (requirements T1, T2), of positions in the hand's axes:

    user to robot     |p_hand(t) − p_robot(t)|
    user to picture   |p_hand(t) − p_shown(t)|
    picture to robot  |p_shown(t) − p_robot(t)|

The robot's measurement tells where it was at t only once it has come back, so they are
found in hindsight: t is when the robot was measured, in this host's time, half of the
quickest round trip uncertain. Shown is what had arrived by then. Nothing is left out
because it is late: what never came is counted beside (``RobotView.n_lost``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from paprle.contracts.session_view import HeldHand
from paprle.contracts.types import LeaderSample, Vec

_KEPT = 512  # chosen: five seconds of captures; no way that drives is longer
_N_BINS = 2048  # chosen: two metres by the millimetre, two seconds by the millisecond
_RECENT = 50  # chosen: a second of views, so that words do not flicker
_MILLI = 1e-3  # a bin, [m] or [s]


class _At(NamedTuple):
    """A position at a time of this host, [ns], [m]."""

    ns: int
    p: Vec


class Spread:
    """Counts of what is measured by thousandths, in bounded memory.

    Attributes:
        n: How many were counted.
    """

    def __init__(self) -> None:
        self.n = 0
        self._bins = np.zeros(_N_BINS, dtype=np.int64)

    def add(self, value: float) -> None:
        """Count one, [m] or [s]; beyond the last bin it counts there."""
        self.n += 1
        self._bins[min(int(max(value, 0.0) / _MILLI), _N_BINS - 1)] += 1

    def find(self, share: float) -> int:
        """Return the value below which a share of all is, in thousandths."""
        return int(np.searchsorted(np.cumsum(self._bins), share * self.n))


class Discrepancy:
    """Errors of one leader, all hands together.

    Attributes:
        user_robot: Spread of the first error.
        user_shown: Of the second.
        shown_robot: Of the third.
        latency: Motion to motion: from a capture until the robot is shown that had it.
    """

    def __init__(self) -> None:
        self.user_robot, self.user_shown = Spread(), Spread()
        self.shown_robot, self.latency = Spread(), Spread()
        self._hands: dict[int, deque[_At]] = {}
        self._shown: dict[int, deque[_At]] = {}
        self._recent: deque[tuple[float, float]] = deque(maxlen=_RECENT)
        self._stamp_ns = 0

    def note_sample(self, sample: LeaderSample) -> None:
        """Take a capture of the operator's; the same one again says nothing."""
        if sample.stamp_ns <= self._stamp_ns:
            return
        self._stamp_ns = sample.stamp_ns
        for place, command in enumerate(sample.limbs.values()):
            T = command.T_leader_base_leader_eef
            if T is not None:
                hand = self._hands.setdefault(place, deque(maxlen=_KEPT))
                hand.append(_At(sample.stamp_ns, T.translation.copy()))

    def note_view(
        self,
        holds: tuple[HeldHand, ...],
        measured_ns: int,
        captured_ns: int,
        now_ns: int,
    ) -> None:
        """Take what came of the robot, and is shown from here on.

        Args:
            holds: Where the robot is, in the axes of each hand.
            measured_ns: When it was measured, in this host's time, [ns].
            captured_ns: Stamp of the newest capture that it had; 0: none, [ns].
            now_ns: This host's time, [ns].
        """
        if not holds:  # nobody drives
            self._shown.clear()
            self._recent.clear()
            return
        if captured_ns:
            self.latency.add(1e-9 * (now_ns - captured_ns))
        for one in holds:
            shown = self._shown.setdefault(one.limb, deque(maxlen=_KEPT))
            robot = np.array(one.pose[:3])
            self._compare(one.limb, robot, measured_ns)
            shown.append(_At(now_ns, robot))

    def _compare(self, place: int, robot: Vec, t_ns: int) -> None:
        """Compare all three as they were when the robot was measured."""
        hand = _interpolate(self._hands.get(place, ()), t_ns)
        shown = [at.p for at in self._shown[place] if at.ns <= t_ns]
        if hand is None or not shown:
            return
        to_robot = float(np.linalg.norm(hand - robot))
        to_shown = float(np.linalg.norm(hand - shown[-1]))
        self.user_robot.add(to_robot)
        self.user_shown.add(to_shown)
        self.shown_robot.add(float(np.linalg.norm(shown[-1] - robot)))
        self._recent.append((to_robot, to_shown))

    def describe(self) -> str:
        """Say how far robot and picture are from the hand at present, or nothing."""
        if not self._recent:
            return ""
        robot, shown = 1e3 * np.median(np.array(self._recent), axis=0)
        return f"robot {robot:.0f} mm from your hand, {shown:.0f} as shown"

    def summarise(self, n_sent: int, n_lost: int) -> str:
        """Say it of the whole session.

        Args:
            n_sent: Captures that were sent.
            n_lost: How many of them never came.

        Returns:
            Words; none where nothing was measured.
        """
        if not self.user_robot.n:
            return ""
        triple = ", ".join(
            f"{name} {one.find(0.5)} and {one.find(0.95)}"
            for name, one in (
                ("hand to robot", self.user_robot),
                ("hand to picture", self.user_shown),
                ("picture to robot", self.shown_robot),
            )
        )
        late = self.latency
        return (
            f"median and p95 in mm: {triple}; motion to motion p50 {late.find(0.5)}, "
            f"p99 {late.find(0.99)} ms; {n_lost} of {n_sent} captures never came"
        )


def _interpolate(hand: deque[_At] | tuple[()], t_ns: int) -> Vec | None:
    """Return where a hand was at a time; None where nobody knows."""
    for a, b in _pairs_backwards(hand):
        if a.ns <= t_ns <= b.ns:
            share = (t_ns - a.ns) / (b.ns - a.ns)
            return np.asarray(a.p + share * (b.p - a.p))
    return None


def _pairs_backwards(hand: deque[_At] | tuple[()]) -> Iterator[tuple[_At, _At]]:
    """Return neighbours in time, the newest first."""
    return ((a, b) for b, a in pairwise(reversed(hand)))
