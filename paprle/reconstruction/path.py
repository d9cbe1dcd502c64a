"""Motion of continuous velocity from few samples (decision 0055).

The motion is the mean of a polyline L through led samples over a time w:

    x(c) = 1/w ∫ L(s) ds over s = c − w … c,    dx/dc = (L(c) − L(c − w))/w

A late sample bends L; after a longer gap the difference fades, b″ = −2ωb′ − ω²b.
"""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from paprle.contracts.types import Vec
from paprle.reconstruction.waypoints import Waypoint, Waypoints

JITTER_NS = 5_000_000  # chosen: one tick; what is later bends a path that goes on
_MEAN_NS = 30_000_000  # measured: with ± 10 ms of jitter less shakes the arm at 72 Hz
_COAST = 0.1  # [s] chosen: in which a motion that hears nothing slows to a third
_FADE, _QUICKEST = 25.0, 60.0  # [1/s] measured: slower leaves more error where a
# network is lossy, quicker leaves steps after a gap; what is small may be quick
_PUSH = 3.0  # [1/s²] chosen: of a unit of what is drawn, below what an arm may, 5 m/s²
_SOONEST_NS = 1_000_000  # chosen: a waypoint nearer than this is reached no sooner
_FASTER, _SLOWER = 0.1, 0.5  # chosen: the content's clock runs so much off at most;
# measured: slower by 0.5 leaves 6 to 75 % of the error where delays grow by 200 ms
_CATCH_NS = 500_000_000  # chosen: in which it makes up for what it is behind
_WAIT_NS = 250_000_000  # chosen: in which it falls back to what there is
_LOST_NS = 300_000_000  # chosen: farther off, stamps have leapt


def find_delay_ns(period_ns: int) -> int:
    """Return a motion's delay behind its samples' arrival, [ns]."""
    return period_ns + JITTER_NS


class Path:
    """Motion of one leader, all its numbers in a row."""

    def __init__(self, waypoints: Waypoints) -> None:
        self.waypoints = waypoints
        self.content_ns = 0
        self._L: Vec = np.zeros(0)
        self._slope: Vec = np.zeros(0)
        self._off: Vec = np.zeros(0)  # of what is drawn from the polyline
        self._off_rate: Vec = np.zeros(0)
        self._fading = _FADE
        self._past: deque[tuple[int, Vec]] = deque()
        self._passed_ns = 0
        self._reached: tuple[int, Vec] | None = None

    @property
    def row(self) -> Vec:
        """Current position on the polyline, shape (n,)."""
        return self._L

    def start(self, row: Vec, stamp_ns: int, content_ns: int) -> None:
        """Begin at rest at a sample, shape (n,), which is kept."""
        self.waypoints.clear()
        self._reached = None
        self.waypoints.add(stamp_ns, row, 0)
        self._L, self._slope = row.copy(), np.zeros_like(row)
        self._off, self._off_rate = np.zeros_like(row), np.zeros_like(row)
        self.content_ns, self._passed_ns = content_ns, stamp_ns
        self._past = deque([(content_ns, self._L)])

    def add(self, row: Vec, stamp_ns: int, period_ns: int) -> None:
        """Take a sample as it arrives."""
        waypoint = self.waypoints.add(stamp_ns, row, _find_window_ns(period_ns))
        waiting = self.waypoints.waiting
        has_others = any(one is not waypoint for one in waiting)
        if waypoint is None or has_others:
            return
        if self.content_ns - self._passed_ns > period_ns:
            self._move_to(waypoint, period_ns)
            return
        soon_ns = self.content_ns + period_ns // 2
        if stamp_ns < soon_ns:  # it is to be where this one leads soon
            led = row + (soon_ns - stamp_ns) * 1e-9 * waypoint.velocity
            waiting[:] = [Waypoint(soon_ns, led, waypoint.velocity)]

    def _move_to(self, goal: Waypoint, period_ns: int) -> None:
        aim = goal.row + _find_lead(period_ns) * goal.velocity
        slope = self._find_slope(goal, aim, period_ns)
        L = aim + (self.content_ns - goal.stamp_ns) * 1e-9 * slope
        was_there = np.isfinite(self._L)
        self._off = np.where(was_there, self._off + self._L - L, 0.0)
        self._off_rate = np.where(was_there, self._off_rate + self._slope - slope, 0.0)
        most = float(np.abs(self._off).max(initial=0.0))
        self._fading = _QUICKEST
        if most > 0.0:
            self._fading = min(max(math.sqrt(_PUSH / most), _FADE), _QUICKEST)
        self._L, self._slope = L, slope
        if goal.stamp_ns <= self.content_ns:
            self.waypoints.waiting.clear()
            self._reached, self._passed_ns = (goal.stamp_ns, aim), goal.stamp_ns

    def advance(self, wanted_ns: int, dt_ns: int, period_ns: int) -> Vec:
        """Return the next tick's numbers, shape (n,), towards capture ``wanted_ns``."""
        off_ns = wanted_ns - self.content_ns - dt_ns
        if abs(off_ns) > _LOST_NS:
            self._shift(off_ns)
            off_ns = 0
        share = min(max(off_ns / _WAIT_NS, -_SLOWER), 0.0)  # samples come later
        share += min(max(off_ns / _CATCH_NS, 0.0), _FASTER)
        self._draw(self.content_ns + round(dt_ns * (1.0 + share)), period_ns)
        return self._average(_find_window_ns(period_ns))

    def _shift(self, by_ns: int) -> None:
        self.content_ns += by_ns
        self._passed_ns += by_ns
        self._past = deque((at_ns + by_ns, L) for at_ns, L in self._past)
        self.waypoints.clear()
        self._reached = None

    def _draw(self, until_ns: int, period_ns: int) -> None:
        waiting, lead = self.waypoints.waiting, _find_lead(period_ns)
        while self.content_ns < until_ns:
            self.waypoints.reach(self.content_ns)
            end_ns = until_ns
            if waiting:
                goal = waiting[0]
                left_ns = max(goal.stamp_ns - self.content_ns, _SOONEST_NS)
                aim = goal.row + lead * goal.velocity
                self._L = np.where(np.isfinite(self._L), self._L, aim)
                self._slope = (aim - self._L) / (left_ns * 1e-9)
                end_ns = min(until_ns, self.content_ns + left_ns)
                self._passed_ns = end_ns
            dt = (end_ns - self.content_ns) * 1e-9
            if not waiting and end_ns - self._passed_ns > period_ns:
                self._slope = self._slope * math.exp(-dt / _COAST)
            self._L = self._L + dt * self._slope
            if waiting and end_ns >= waiting[0].stamp_ns:
                self._slope = self._find_slope(waiting[0], aim, period_ns)
                self._reached = (waiting[0].stamp_ns, aim)
            self._fade(dt)
            self.content_ns = end_ns
            self._past.append((end_ns, self._L + self._off))

    def _fade(self, dt: float) -> None:
        rate = self._fading
        push = self._off_rate + rate * self._off
        left = (self._off + dt * push) * math.exp(-rate * dt)
        self._off_rate = push * math.exp(-rate * dt) - rate * left
        self._off = left

    def _find_slope(self, goal: Waypoint, aim: Vec, period_ns: int) -> Vec:
        before = self._reached
        if before is None or goal.stamp_ns - before[0] < period_ns // 2:
            return goal.velocity  # captures so near each other say little
        return np.asarray((aim - before[1]) / ((goal.stamp_ns - before[0]) * 1e-9))

    def _average(self, window_ns: int) -> Vec:
        begin_ns, past = self.content_ns - window_ns, self._past
        while len(past) > 2 and past[1][0] <= begin_ns:
            past.popleft()
        if past[0][0] > begin_ns:  # it stood there before it began
            past.appendleft((begin_ns, past[0][1]))
        times = np.array([at_ns - begin_ns for at_ns, _ in past], dtype=np.float64)
        rows = np.array([L for _, L in past])
        if len(past) > 1 and times[0] < 0.0:  # the part of the first piece that counts
            share = times[0] / (times[0] - times[1])
            rows[0] += share * (rows[1] - rows[0])
            times[0] = 0.0
        # what diff() and sum() wrap takes half their time
        pieces = 0.5 * (times[1:] - times[:-1])[:, None] * (rows[1:] + rows[:-1])
        return np.asarray(np.add.reduce(pieces) / window_ns)


def _find_window_ns(period_ns: int) -> int:
    return max(period_ns, _MEAN_NS)


def _find_lead(period_ns: int) -> float:
    return 0.5e-9 * _find_window_ns(period_ns)
