"""Tones without a sound card: SDL plays on its dummy driver, at the clock's pace."""

from __future__ import annotations

import time

import pytest

pygame = pytest.importorskip("pygame")

from paprle.hardware.sound.errors import SoundError  # noqa: E402
from paprle.hardware.sound.speaker import Speaker  # noqa: E402


@pytest.fixture
def speaker(monkeypatch):
    monkeypatch.setenv("SDL_AUDIODRIVER", "dummy")
    made = Speaker()
    made.open()
    yield made
    made.close()


def is_busy():
    return [pygame.mixer.Channel(k).get_busy() for k in range(2)]


def test_each_tone_is_as_loud_as_it_is_told(speaker):
    speaker.tell(0.5, 0.25)

    assert is_busy() == [True, True]
    volumes = [pygame.mixer.Channel(k).get_volume() for k in range(2)]
    assert volumes == pytest.approx([0.5, 0.25], abs=0.01)


def test_zero_is_silent_at_once(speaker):
    speaker.tell(1.0, 1.0)
    speaker.tell(0.0, 0.3)

    assert is_busy() == [False, True]


def test_sound_ends_by_itself_without_news(speaker):
    for _ in range(10):
        speaker.tell(1.0, 0.0)
        time.sleep(0.01)
    assert is_busy()[0]
    time.sleep(0.25)  # two pieces of 50 ms, and a busy machine

    assert is_busy() == [False, False]


def test_no_output_is_told_with_what_to_do(monkeypatch):
    monkeypatch.setenv("SDL_AUDIODRIVER", "none of these")

    with pytest.raises(SoundError, match=r"leader\.sound=0"):
        Speaker().open()


def test_closed_it_is_silent_and_takes_what_is_told(speaker):
    speaker.close()
    speaker.close()
    speaker.tell(1.0, 1.0)
