"""Axes and triggers of a human leader, valid once seen at rest."""

from __future__ import annotations

import numpy as np

from paprle.contracts.kit.seen_at_rest import AXIS, TRIGGER, Rest
from paprle.contracts.types import LeaderInfo
from paprle.ipc.records import Layout, SampleView


def has_controls(info: LeaderInfo) -> bool:
    """Return whether a person moves axes or triggers."""
    return info.is_human and (bool(info.axes) or info.has_trigger)


class Controls:
    """Filters axes and triggers not yet at rest."""

    def __init__(self, layout: Layout) -> None:
        view, info = SampleView(layout), layout.leader
        self._axes = Rest(view.axes.shape, AXIS)
        self._triggers = Rest(view.opening.shape, TRIGGER)
        self._has_trigger = info.has_trigger
        self._named = np.zeros(view.axes.shape, dtype=np.bool_)
        for row, limb in enumerate(info.limbs):
            self._named[row, : len(info.axes.get(limb, ()))] = True

    def lose(self) -> None:
        """Require rest again."""
        self._axes.lose()
        self._triggers.lose()

    def mask(self, sample: SampleView) -> None:
        """Set axes not seen at rest to 0, such openings to NaN."""
        if sample.valid:
            self._axes.note(sample.axes)
            self._triggers.note(sample.opening)
        is_number = ~np.isnan(sample.axes)
        if is_number.any():  # a sample without any number is refused
            sample.axes[self._named & ~(self._axes.seen & is_number)] = 0.0
        if self._has_trigger:
            sample.opening[~self._triggers.seen] = np.nan
