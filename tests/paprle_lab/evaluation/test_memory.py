"""No piece that is read of an episode is longer than a few blocks."""

from __future__ import annotations

import json

import numpy as np
import pytest

from paprle_lab.evaluation import store
from paprle_lab.evaluation.episode import measure_source
from paprle_lab.evaluation.reporting.plots import draw_episode


class Counted:
    """Rows that notice how many of them are asked for at once."""

    def __init__(self, rows) -> None:
        self._rows = rows
        self.most = 0

    @property
    def dtype(self) -> np.dtype:
        return self._rows.dtype

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, rows: slice):
        piece = self._rows[rows]
        self.most = max(self.most, len(piece))
        return piece


@pytest.mark.nightly
@pytest.mark.long
def test_a_long_episode_is_never_read_at_once(make_episode, monkeypatch):
    episode = make_episode(n=4000)
    ticks, gate = Counted(episode.ticks), Counted(episode.gate)
    object.__setattr__(episode, "ticks", ticks)
    object.__setattr__(episode, "gate", gate)
    monkeypatch.setattr(store, "BLOCK", 100)
    window = 1400  # the rows of a window of 4 s, of which joint lags are told, and more

    result = measure_source(episode)
    pictures = list(draw_episode(result))

    json.dumps(result.entry, allow_nan=False)
    assert len(pictures) == 6
    assert ticks.most <= 102
    assert gate.most <= window
