"""One episode as numbers, whatever its format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from paprle.contracts.types import Vec
from paprle.robot.arrays import Bools

RECORDING, LEROBOT = "recordings", "LeRobot"
"""Kinds of sets."""


class Track(NamedTuple):
    """Values (N, n) with a name each, in units of the set; n is 0 where unknown."""

    names: tuple[str, ...]
    values: Vec


NO_TRACK = Track((), np.zeros((0, 0)))


class Glimpses(NamedTuple):
    """Sampled images of a camera, as what changes between them.

    Attributes:
        t: Times of the images, (M,), [s].
        changes: Largest change of a cell since the image before, (M,), 0 … 255.
        missing: Share of the images that are not there; None: unknown.
    """

    t: Vec
    changes: Vec
    missing: float | None


@dataclass(frozen=True)
class Facts:
    """Counts that a recording alone has; None: unknown.

    Attributes:
        clutches: Number of times that the clutch was released.
        gate_held: Share of the gate's engaged periods in which a clause acted.
        interventions: By the gate's reason.
        losses: Number of times that the device lost tracking.
    """

    clutches: int | None = None
    gate_held: float | None = None
    interventions: Mapping[str, int] = field(default_factory=dict)
    losses: int | None = None


@dataclass(frozen=True)
class EpisodeSeries:
    """One episode.

    Attributes:
        path: Recording, or root of the set.
        outcome: ``success``, ``failure`` or empty.
        t: From 0 on, (N,), [s].
        clock: The set's own times, (N,), [s]; empty where it has none.
        frames: The set's own frame numbers, (N,); empty where it has none.
        fps: As declared, [Hz].
        driven: Whether a leader drove, (N,).
        film_s: Length of the episode's video by camera, [s].
    """

    name: str
    path: Path
    task: str
    outcome: str
    fps: float
    t: Vec
    action: Track
    state: Track
    driven: Bools
    clock: Vec = field(default_factory=lambda: np.zeros(0))
    frames: Vec = field(default_factory=lambda: np.zeros(0))
    cameras: Mapping[str, Glimpses] = field(default_factory=dict)
    facts: Facts = field(default_factory=Facts)
    film_s: Mapping[str, float] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """Length, [s]."""
        return len(self.t) / self.rate

    @property
    def rate(self) -> float:
        """Rate of its rows by their times, [Hz]."""
        step = float(np.median(np.diff(self.t))) if len(self.t) > 1 else 0.0
        return 1.0 / step if step > 0.0 else self.fps

    @property
    def tracks(self) -> dict[str, Track]:
        """Tracks that are known, the state first."""
        both = {"state": self.state, "action": self.action}
        return {name: one for name, one in both.items() if one.values.shape[1]}

    def with_values(self, action: Vec, state: Vec) -> EpisodeSeries:
        """Return it with other values of the same columns, (N, n)."""
        return replace(
            self,
            action=Track(self.action.names, action),
            state=Track(self.state.names, state),
        )
