"""Leaders that can be heard: the rules of silence are those of rumble."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("pygame")

from hand_films import write_film

from paprle.contracts.types import Feedback, SessionState
from paprle.leaders.hand_imu.config import CameraConfig, HandImuConfig
from paprle.leaders.hand_imu.leader import HandImu
from paprle.leaders.keyboard.config import KeyboardConfig
from paprle.leaders.keyboard.leader import Keyboard
from paprle.leaders.visionpro.config import VisionproConfig
from paprle.leaders.visionpro.leader import Visionpro
from paprle.testing import ManualClock
from paprle_emulators.visionpro.headset import EmulatedVisionPro


def make_hand(sound, tmp_path):
    camera = CameraConfig(recorded=write_film(tmp_path / "hand.npz", 1.0))
    yield HandImu(HandImuConfig(camera=camera, sound=sound), ManualClock())


def make_headset(sound, _):
    headset = EmulatedVisionPro()
    config = VisionproConfig(host="127.0.0.1", port=headset.port, sound=sound)
    yield Visionpro(config, ManualClock())
    headset.close()


def make_keyboard(sound, _):
    out, fd = os.pipe()
    yield Keyboard(KeyboardConfig(fd=out, sound=sound), ManualClock())
    os.close(out)
    os.close(fd)


MAKERS = [
    pytest.param(make_keyboard, id="keyboard"),
    pytest.param(make_hand, id="hand_imu"),
    pytest.param(make_headset, id="visionpro", marks=pytest.mark.long),
]


@pytest.fixture(params=MAKERS)
def make(request, tmp_path, monkeypatch):
    monkeypatch.setenv("SDL_AUDIODRIVER", "dummy")
    makers = []

    def make(sound=0.5):
        maker = request.param(sound, tmp_path)
        leader = next(maker)
        makers.append((maker, leader))
        leader.open()
        return leader

    yield make
    for maker, leader in makers:
        leader.close()
        list(maker)


@pytest.fixture
def leader(make):
    return make()


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
def test_the_leader_is_silent_where_rumble_is(leader, how):
    feel(leader, touch=1.0)

    assert feel(leader, **{"touch": 1.0, **how}) == (0.0, 0.0)


def test_a_speaker_without_volume_is_silent(make):
    leader = make(0.0)

    assert leader.info.renders == "none"
    assert feel(leader, touch=1.0, warning=1.0) == (0.0, 0.0)
    assert leader._speaker._mixer is None
