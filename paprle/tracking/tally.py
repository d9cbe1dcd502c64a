"""Durations of tracking causes."""

from __future__ import annotations

from collections import Counter

import numpy as np

from paprle.recording.shortage import Shortage
from paprle.tracking.findings import TrackingVerdict
from paprle.tracking.looks import LOOK

_MOST = 0.5  # chosen: share of the time
_LONG = 1.0  # [s] chosen: a shorter drive says nothing of it


class Tally:
    """Counter of looks, ``LOOK`` seconds each."""

    def __init__(self) -> None:
        self._n_driven = self._n_short = self._n_away = 0
        self._pauses: Counter[str] = Counter()
        self._causes: Counter[str] = Counter()
        self._worst: dict[str, tuple[float, float]] = {}

    def add(self, verdict: TrackingVerdict) -> None:
        """Count a look."""
        self._pauses[verdict.pause] += 1
        if not verdict.is_driven:
            return
        self._n_driven += 1
        self._n_short += bool(verdict.findings)
        self._n_away += verdict.is_away
        self._causes.update({one.cause for one in verdict.findings})
        for one in verdict.findings:
            pos, rot = self._worst.get(one.cause, (0.0, 0.0))
            self._worst[one.cause] = (
                float(np.fmax(one.pos, pos)),
                float(np.fmax(one.rot, rot)),
            )

    @property
    def is_most(self) -> bool:
        """Whether the robot was mostly off its targets."""
        driven = LOOK * self._n_driven
        return driven > _LONG and self._n_away > _MOST * self._n_driven

    def rank(self) -> list[Shortage]:
        """Return the causes, longest first."""
        return [
            Shortage(cause, LOOK * n, *self._worst[cause])
            for cause, n in self._causes.most_common()
        ]

    def summarise(self) -> str:
        """Return causes and durations, or ""."""
        told = []
        for one in self.rank():
            most = f", up to {one.worst}" if one.worst else ""
            share = 100.0 * one.seconds / (LOOK * self._n_driven)
            told.append(f"{one.cause} {one.seconds:.1f} s ({share:.0f} %{most})")
        if not told:
            return ""
        return (
            f"not where the hand was for {LOOK * self._n_short:.1f} of "
            f"{LOOK * self._n_driven:.1f} s: {', '.join(told)}"
        )

    def describe_pauses(self) -> str:
        """Return times without a driver, or ""."""
        times = [(why, LOOK * self._pauses[why]) for why in ("clutch", "silence")]
        return ", ".join(f"{why} {seconds:.1f} s" for why, seconds in times if seconds)
