"""Distances of hand, robot and picture, at the operator.

Three errors at one instant t (requirements T1, T2), of positions in the hand's axes:

    user to robot     |p_hand(t) − p_robot(t)|
    user to picture   |p_hand(t) − p_shown(t)|
    picture to robot  |p_shown(t) − p_robot(t)|

They are computed in hindsight, ± half the quickest round trip, for confirmed, predicted
(``HandMirror``) and extrapolated pictures.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from paprle.contracts.session_view import HeldHand
from paprle.contracts.types import LeaderSample, Vec
from paprle.link.remote_leader.error_report import ErrorRow, StreamCounts

_KEPT = 512  # chosen: five seconds of captures; no way that drives is longer
_N_BINS = 2048  # chosen: two metres by the millimetre, two seconds by the millisecond
_RECENT = 50  # chosen: a second of views, so that words do not flicker
_MILLI = 1e-3  # a bin, [m] or [s]
_N_WORDS = 5  # chosen: over so many a velocity is found, for a staircase has none
_LONGEST = 0.3  # [s] chosen: a velocity says nothing of what is farther
_ERRORS = {
    "user_robot": "hand to robot",
    "user_shown": "hand to picture",
    "shown_robot": "picture to robot",
    "user_predicted": "hand to predicted picture",
    "predicted_robot": "predicted picture to robot",
    "user_velocity": "hand to picture by velocity",
    "velocity_robot": "picture by velocity to robot",
}


class _At(NamedTuple):
    ns: int
    p: Vec


class Spread:
    """Histogram of ``n`` values in thousandths."""

    def __init__(self) -> None:
        self.n = 0
        self._bins = np.zeros(_N_BINS, dtype=np.int64)

    def add(self, value: float) -> None:
        """Count a value, [m] or [s]; the last bin is open, NaN is ignored."""
        if math.isnan(value):
            return
        self.n += 1
        self._bins[min(int(max(value, 0.0) / _MILLI), _N_BINS - 1)] += 1

    def find(self, share: float) -> int:
        """Return a share's quantile, in thousandths."""
        return int(np.searchsorted(np.cumsum(self._bins), share * self.n))


class Discrepancy:
    """Errors of one leader over all hands.

    ``shown`` is the confirmed picture, ``velocity`` the extrapolated one; ``latency``
    lasts from capture to the display of the robot with it.
    """

    def __init__(self) -> None:
        self.user_robot, self.user_shown = Spread(), Spread()
        self.shown_robot, self.latency = Spread(), Spread()
        self.user_predicted, self.predicted_robot = Spread(), Spread()
        self.user_velocity, self.velocity_robot = Spread(), Spread()
        self._hands: dict[int, deque[_At]] = {}
        self._shown: dict[int, deque[_At]] = {}
        self._predicted: dict[int, deque[_At]] = {}
        self._gone_on: dict[int, deque[_At]] = {}
        self._words: dict[int, deque[_At]] = {}
        self._recent: deque[ErrorRow] = deque(maxlen=_RECENT)
        self._stamp_ns = 0

    def note_sample(self, sample: LeaderSample) -> None:
        """Add a capture, unless repeated."""
        if sample.stamp_ns <= self._stamp_ns:
            return
        self._stamp_ns = sample.stamp_ns
        for place, command in enumerate(sample.limbs.values()):
            T = command.T_leader_base_leader_eef
            if T is not None:
                _keep(self._hands, place, _At(sample.stamp_ns, T.translation.copy()))

    def note_predicted(self, place: int, p: Vec, now_ns: int) -> None:
        """Set a predicted picture's position, shape (3,), [m]."""
        _keep(self._predicted, place, _At(now_ns, np.array(p)))
        words = self._words.get(place)
        if words:
            _keep(self._gone_on, place, _At(now_ns, _go_on(words, now_ns)))

    def note_view(
        self,
        holds: tuple[HeldHand, ...],
        measured_ns: int,
        captured_ns: int,
        now_ns: int,
    ) -> list[ErrorRow]:
        """Return an error row by hand for a newly shown view.

        ``holds`` are the robot's poses in the axes of each hand, times local;
        ``captured_ns`` is 0 without a capture.
        """
        if not holds:  # nobody drives
            for track in (self._shown, self._predicted, self._gone_on, self._words):
                track.clear()
            self._recent.clear()
            return []
        latency = 1e-9 * (now_ns - captured_ns) if captured_ns else math.nan
        self.latency.add(latency)
        rows = []
        for one in holds:
            robot = np.array(one.pose[:3])
            row = self._compare(one.limb, robot, measured_ns)
            rows.append(row._replace(latency=latency))
            _keep(self._shown, one.limb, _At(now_ns, robot))
            words = self._words.setdefault(one.limb, deque(maxlen=_N_WORDS))
            if not words or measured_ns > words[-1].ns:
                words.append(_At(measured_ns, robot))
        self._recent += rows
        return rows

    def _compare(self, place: int, robot: Vec, t_ns: int) -> ErrorRow:
        hand = _interpolate(self._hands.get(place, ()), t_ns)
        shown = _find_before(self._shown.get(place, ()), t_ns)
        predicted = _find_before(self._predicted.get(place, ()), t_ns)
        gone_on = _find_before(self._gone_on.get(place, ()), t_ns)
        if hand is None or shown is None:
            return ErrorRow(t_ns, place)
        row = ErrorRow(
            t_ns,
            place,
            user_robot=_measure(hand, robot),
            user_shown=_measure(hand, shown),
            shown_robot=_measure(shown, robot),
            user_predicted=_measure(hand, predicted),
            predicted_robot=_measure(robot, predicted),
            user_velocity=_measure(hand, gone_on),
            velocity_robot=_measure(robot, gone_on),
        )
        for name in _ERRORS:
            getattr(self, name).add(getattr(row, name))
        return row

    def describe(self) -> str:
        """Describe the present distances from the hand."""
        robot, shown = self.find_recent("user_robot"), self.find_recent("user_shown")
        if robot is None or shown is None:
            return ""
        return f"robot {robot:.0f} mm from your hand, {shown:.0f} as shown"

    def find_recent(self, name: str) -> float | None:
        """Return the last second's median of an error or latency, in thousandths."""
        return find_median(getattr(row, name) for row in list(self._recent))

    def summarise(self, counts: StreamCounts) -> str:
        """Return the session's summary; empty without measurements."""
        if not self.user_robot.n:
            return ""
        triple = ", ".join(
            f"{words} {one.find(0.5)} and {one.find(0.95)}"
            for name, words in _ERRORS.items()
            if (one := getattr(self, name)).n
        )
        late = self.latency
        n_words = counts.words_sent - counts.words_got
        return (
            f"median and p95 in mm: {triple}; motion to motion p50 {late.find(0.5)}, "
            f"p99 {late.find(0.99)} ms; {counts.captures_lost} of "
            f"{counts.captures_sent} captures and {n_words} of {counts.words_sent} "
            "words of the robot never came"
        )


def find_median(values: Iterable[float]) -> float | None:
    """Return the known values' median, in thousandths."""
    known = [value for value in values if math.isfinite(value)]
    return 1e3 * float(np.median(known)) if known else None


def _keep(tracks: dict[int, deque[_At]], place: int, at: _At) -> None:
    tracks.setdefault(place, deque(maxlen=_KEPT)).append(at)


def _find_before(track: Iterable[_At], t_ns: int) -> Vec | None:
    before = [at.p for at in track if at.ns <= t_ns]
    return before[-1] if before else None


def _go_on(words: deque[_At], now_ns: int) -> Vec:
    first, last = words[0], words[-1]
    if first.ns >= last.ns:
        return last.p
    v = (last.p - first.p) / (last.ns - first.ns)
    return np.asarray(last.p + v * min(now_ns - last.ns, _LONGEST * 1e9))


def _measure(a: Vec, b: Vec | None) -> float:
    return math.nan if b is None else float(np.linalg.norm(a - b))


def _interpolate(hand: deque[_At] | tuple[()], t_ns: int) -> Vec | None:
    for a, b in _pairs_backwards(hand):
        if a.ns <= t_ns <= b.ns:
            share = (t_ns - a.ns) / (b.ns - a.ns)
            return np.asarray(a.p + share * (b.p - a.p))
    return None


def _pairs_backwards(hand: deque[_At] | tuple[()]) -> Iterator[tuple[_At, _At]]:
    return ((a, b) for b, a in pairwise(reversed(hand)))
