"""Axes and triggers of a person's leader, which count once they were seen at rest."""

from __future__ import annotations

import numpy as np

from paprle.contracts.kit.seen_at_rest import AXIS, TRIGGER, Rest
from paprle.contracts.types import LeaderInfo
from paprle.ipc.records import Layout, SampleView


def has_controls(info: LeaderInfo) -> bool:
    """Whether a person moves axes or triggers of this leader."""
    return info.is_human and (bool(info.axes) or info.has_trigger)


class Controls:
    """Axes and triggers of a person's leader, which count once they were at rest."""

    def __init__(self, layout: Layout) -> None:
        """Begin with none of them seen.

        Args:
            layout: What crosses process borders, of this leader alone.
        """
        view, info = SampleView(layout), layout.leader
        self._axes = Rest(view.axes.shape, AXIS)
        self._triggers = Rest(view.opening.shape, TRIGGER)
        self._has_trigger = info.has_trigger
        self._named = np.zeros(view.axes.shape, dtype=np.bool_)
        for row, limb in enumerate(info.limbs):
            self._named[row, : len(info.axes.get(limb, ()))] = True

    def lose(self) -> None:
        """The leader was lost: all have to be seen at rest again."""
        self._axes.lose()
        self._triggers.lose()

    def mask(self, sample: SampleView) -> None:
        """Let a sample ask nothing by controls that were not seen at rest.

        Args:
            sample: The newest sample; such an axis becomes 0, such an opening NaN.
        """
        if sample.valid:
            self._axes.note(sample.axes)
            self._triggers.note(sample.opening)
        is_number = ~np.isnan(sample.axes)
        if is_number.any():  # a sample without any number is refused
            sample.axes[self._named & ~(self._axes.seen & is_number)] = 0.0
        if self._has_trigger:
            sample.opening[~self._triggers.seen] = np.nan
