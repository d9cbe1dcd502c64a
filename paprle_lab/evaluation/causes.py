"""Causes of a limb's shortfall."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import Vec
from paprle_lab.evaluation.metrics import SpanFinder, Spans
from paprle_lab.evaluation.store import Thinned

Bools = npt.NDArray[np.bool_]
Json = dict[str, Any]


class Cause:
    """One cause of a limb's shortfall.

    Attributes:
        seconds: Total, [s].
        longest: Longest stretch, [s].
        farthest: Largest distance left, [m].
    """

    def __init__(self) -> None:
        self.seconds = self.longest = self.farthest = 0.0
        self._going = 0.0  # of the stretch that the next sample may go on with
        self._times = Thinned(np.float64)

    @property
    def t(self) -> Vec:
        """Thinned times at which it acted, [s]."""
        return self._times.rows

    def add(self, is_on: Bools, samples: Samples) -> None:
        """Add samples."""
        if not is_on.any():
            self._going = 0.0
            return
        lasted = np.where(is_on, samples.lasted, 0.0)
        self.seconds += float(lasted.sum())
        self.farthest = max(self.farthest, float(samples.left[is_on].max()))
        self._times.add(samples.t[is_on])
        rows = np.concatenate([[0.0], np.cumsum(lasted)]) + self._going
        starts = np.flatnonzero(np.diff(np.concatenate([[False], is_on])) & is_on)
        ends = np.flatnonzero(np.diff(np.concatenate([is_on, [False]])) & is_on) + 1
        before = np.where(starts == 0, 0.0, rows[starts])
        self.longest = max(self.longest, float((rows[ends] - before).max()))
        self._going = float(rows[-1] - before[-1]) if is_on[-1] else 0.0


class Samples(NamedTuple):
    """Consecutive targets, arrays of shape (n,).

    Attributes:
        t: Capture, increasing, [s].
        lasted: Duration as the newest target, [s].
        left: Distance left, [m].
    """

    t: Vec
    lasted: Vec
    left: Vec


@dataclass(frozen=True, kw_only=True)
class LimbReach:
    """Reached targets of a limb, and causes of its shortfall.

    Attributes:
        seconds: Duration with targets, [s].
        short_seconds: Thereof not reached, [s].
        joints: By kind and joint; an empty joint: none in particular.
    """

    seconds: float
    short_seconds: float
    short: Spans
    causes: Mapping[str, Cause]
    joints: Mapping[tuple[str, str], Cause]
    counts_rotation: bool


class CauseTally:
    """Running totals of causes."""

    def __init__(self) -> None:
        self._seconds = self._short_seconds = 0.0
        self._short = SpanFinder()
        self._kinds: dict[str, Cause] = {}
        self._joints: dict[tuple[str, str], Cause] = {}

    def add(
        self,
        causes: Mapping[tuple[str, str], Bools],
        is_short: Bools,
        samples: Samples,
    ) -> None:
        """Add samples with causes by kind and joint."""
        t, lasted, _ = samples
        self._seconds += float(lasted.sum())
        self._short_seconds += float(lasted[is_short].sum())
        self._short.add(t, is_short, t + lasted)
        for key, flags in causes.items():
            self._joints.setdefault(key, Cause()).add(flags, samples)
        for kind in dict.fromkeys(kind for kind, _ in causes):
            own = [flags for (name, _), flags in causes.items() if name == kind]
            is_on = np.logical_or.reduce(own)
            self._kinds.setdefault(kind, Cause()).add(is_on, samples)

    def finish(self, *, counts_rotation: bool) -> LimbReach:
        """Return the totals."""
        joints = {key: cause for key, cause in self._joints.items() if len(cause.t)}
        return LimbReach(
            seconds=self._seconds,
            short_seconds=self._short_seconds,
            short=self._short.finish(),
            causes={kind: c for kind, c in self._kinds.items() if len(c.t)},
            joints=joints,
            counts_rotation=counts_rotation,
        )


def describe_reach(reach: LimbReach | None) -> Json | None:
    """Return a report entry's ``reach``; None if unknown."""
    if reach is None or not reach.seconds:
        return None
    entries = [_describe_cause(reach, kind) for kind in reach.causes]
    return {
        "reached_percent": 100.0 * (1.0 - reach.short_seconds / reach.seconds),
        "short_s": reach.short_seconds,
        "counts_rotation": reach.counts_rotation,
        "short": sorted(entries, key=lambda entry: -float(entry["seconds"])),
    }


def _describe_cause(reach: LimbReach, kind: str) -> Json:
    whole = reach.causes[kind]
    shares = {
        joint: 100.0 * cause.seconds / reach.seconds
        for (name, joint), cause in reach.joints.items()
        if joint and name == kind
    }
    return {
        "cause": kind,
        "percent": 100.0 * whole.seconds / reach.seconds,
        "seconds": whole.seconds,
        "longest_s": whole.longest,
        "farthest_mm": 1e3 * whole.farthest,
        "joints": dict(sorted(shares.items(), key=lambda share: -share[1])),
    }
