"""Keys that can be heard: the rules of silence are those of rumble."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("pygame")

from leaders.keyboard.config import KeyboardConfig
from leaders.keyboard.leader import Keyboard
from paprle.contracts.types import Feedback, SessionState
from paprle.testing import ManualClock


@pytest.fixture
def leader(monkeypatch):
    monkeypatch.setenv("SDL_AUDIODRIVER", "dummy")
    out, fd = os.pipe()
    made = Keyboard(KeyboardConfig(fd=out, sound=0.5), ManualClock())
    made.open()
    yield made
    made.close()
    os.close(out)
    os.close(fd)


def feel(leader, touch=0.0, warning=0.0, age_ns=0, is_engaged=True):
    leader.apply(
        Feedback(
            stamp_ns=leader.clock() - age_ns,
            state=SessionState.ENGAGED,
            episode=0,
            is_engaged=is_engaged,
            touch=touch,
            warning=warning,
        )
    )
    return leader._speaker.loudness


def test_contact_is_heard_in_proportion_and_a_warning_beside_it(leader):
    assert leader.info.renders == "sound"
    assert feel(leader, touch=0.4) == (0.2, 0.0)
    assert feel(leader, touch=1.0, warning=0.6) == (0.5, 0.3)


@pytest.mark.parametrize(
    "how",
    [{"is_engaged": False}, {"age_ns": 150_000_000}, {"touch": float("nan")}],
    ids=["not driving", "stale", "no number"],
)
def test_it_is_silent_where_rumble_is(leader, how):
    feel(leader, touch=1.0)

    assert feel(leader, **{"touch": 1.0, **how}) == (0.0, 0.0)
