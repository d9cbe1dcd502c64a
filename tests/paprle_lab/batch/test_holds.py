"""Time in which a robot was to be led and was not, against spans made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from paprle.contracts.types import SessionState
from paprle_lab.batch.figures import measure_holds

DTYPE = [("stamp_ns", "<i8"), ("state", "<i4"), ("driver", "<i4", (1,))]


def make_ticks(driven, states=None):
    """Ticks of 10 ms: where a leader drove."""
    ticks = np.zeros(len(driven), DTYPE)
    ticks["stamp_ns"] = 5_000_000_000 + np.arange(len(driven)) * 10_000_000
    ticks["state"] = SessionState.ENGAGED if states is None else states
    ticks["driver"][:, 0] = np.where(driven, 0, -1)
    return ticks


def test_a_hold_lies_between_motions_and_its_recovery_ends_at_the_target():
    driven = [False] * 5 + [True] * 20 + [False] * 10 + [True] * 30 + [False] * 9
    short = [np.array([[0.33, 0.42], [0.5, 0.6]])]

    told = measure_holds(make_ticks(driven), 5_000_000_000, short)

    assert told["n_holds"] == 1
    assert told["held_s"] == pytest.approx(0.1, abs=0.011)
    assert told["longest_hold_s"] == told["held_s"]
    begin = 0.35 - told["held_s"]  # it drives again at 0.35 s, and is there at 0.42 s
    assert told["recovery_s"] == pytest.approx(0.42 - begin, abs=1e-9)


def test_a_session_in_another_state_is_not_led():
    states = np.full(30, int(SessionState.ENGAGED))
    states[10:15] = SessionState.CLUTCHED

    told = measure_holds(make_ticks([True] * 30, states), 5_000_000_000, [])

    assert told["n_holds"] == 1
    assert told["recovery_s"] == told["held_s"]


@pytest.mark.parametrize("driven", [[True] * 9, [False] * 9, []])
def test_without_holds_nothing_was_lost(driven):
    told = measure_holds(make_ticks(np.array(driven, bool)), 5_000_000_000, [])

    assert told == {
        "n_holds": 0, "held_s": 0.0, "longest_hold_s": 0.0, "recovery_s": None,
    }  # fmt: skip
