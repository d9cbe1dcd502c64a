"""Plane polylines and their time law."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

_N_POINTS = 3600  # chosen: a circle of 0.1 m radius is off by at most 0.04 µm
_CLOCK = 1e-9  # [s] spec: stamps are whole nanoseconds


@dataclass(frozen=True, slots=True)
class Path:
    """A polyline that starts at the origin.

    Attributes:
        points: Vertices (u, v), [m].
        lengths: Length up to each vertex, [m].
    """

    points: tuple[tuple[float, float], ...]
    lengths: tuple[float, ...]

    @property
    def length(self) -> float:
        """Length, [m]."""
        return self.lengths[-1]

    @property
    def is_closed(self) -> bool:
        """Whether it ends at its start."""
        return self.points[0] == self.points[-1]

    def point(self, s: float) -> tuple[float, float]:
        """Return the point (u, v) [m] at length ``s`` [m]; open paths return."""
        lap, s = divmod(s, self.length)
        if not self.is_closed and lap % 2 == 1:
            s = self.length - s
        k = bisect_right(self.lengths, s)
        if k == len(self.lengths):
            return self.points[-1]
        begin, end = self.lengths[k - 1 : k + 1]
        (u, v), (u_next, v_next) = self.points[k - 1 : k + 1]
        # as np.interp does it, which takes ten times as long for one point
        step, s = end - begin, s - begin
        return (u_next - u) / step * s + u, (v_next - v) / step * s + v


def make_path(shape: str, size: float, aspect: float) -> Path:
    """Return the path of a shape; ``size`` is in [m]."""
    half = size / 2
    if shape == "circle":
        angles = np.linspace(0, 2 * math.pi, _N_POINTS + 1)
        points = half * np.column_stack([np.sin(angles), 1 - np.cos(angles)])
    elif shape == "s":
        # ARBot's S, x = c_x + w·cos(3πp); see requirements A12.
        p = np.linspace(0, 1, _N_POINTS + 1)
        points = size * np.column_stack([aspect / 2 * np.cos(3 * math.pi * p), p])
    elif shape == "triangle":
        top = math.sqrt(3) * half
        points = np.array([(0, 0), (half, 0), (0, top), (-half, 0), (0, 0)])
    else:
        top = size if shape == "square" else aspect * size
        points = np.array(
            [(0, 0), (half, 0), (half, top), (-half, top), (-half, 0), (0, 0)]
        )
    if shape != "s":
        points[-1] = points[0]
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    lengths = np.concatenate([[0.0], np.cumsum(steps)])
    points -= points[0]
    return Path(
        points=tuple(map(tuple, points.tolist())), lengths=tuple(lengths.tolist())
    )


@dataclass(frozen=True, slots=True)
class TimeLaw:
    """Constant speed between smooth ramps, v·(1 − cos(π t/r))/2.

    Attributes:
        length: [m].
        speed: Between the ramps, [m/s].
        ramp: Time of each ramp, [s].
    """

    length: float
    speed: float
    ramp: float

    @property
    def duration(self) -> float:
        """Duration, [s]."""
        return self.length / self.speed + self.ramp

    def walked(self, t: float) -> float:
        """Return the length [m] after ``t`` [s]."""
        left = self.duration - t
        if left < _CLOCK:
            return self.length
        if left < self.ramp:
            return self.length - self._ramped(left)
        if t < self.ramp:
            return self._ramped(t)
        return self.speed * (t - self.ramp / 2)

    def _ramped(self, t: float) -> float:
        r = self.ramp
        return self.speed * (t / 2 - r / (2 * math.pi) * math.sin(math.pi * t / r))


def make_time_law(length: float, speed: float, ramp: float) -> TimeLaw:
    """Return the time law; short paths are slower."""
    return TimeLaw(length, min(speed, length / ramp) if ramp > 0 else speed, ramp)
