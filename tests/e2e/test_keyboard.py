"""Keys of a real terminal drive a live session."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest
from machine import undisturbed
from terminal import PERSON, TerminalSession

from paprle.recording.reader import Episode
from paprle.recording.robot import compute_poses, make_limbs

pytestmark = [pytest.mark.process, pytest.mark.timed]
SPEED = 0.1  # [m/s] level 5
FIRST, REPEAT = 0.6, 0.15  # [s] leaders/keyboard/config.py


@pytest.fixture
def start(tmp_path):
    """Start sessions in terminals, up to ENGAGED; gone when the test is over."""
    running = []

    def start_session() -> TerminalSession:
        out = tmp_path / f"out{len(running)}"
        triple = ["leader=keyboard", "follower=piper", "env=kinematic"]
        running.append(TerminalSession(triple, out, {}))
        running[-1].wait_for("press Enter", 40.0)
        running[-1].press(b"\r")
        running[-1].wait_for("ENGAGED")
        return running[-1]

    yield start_session
    for session in running:
        session.end()


def read_path(episode: Episode):
    """Times [ns] and positions [m] of the hand, while somebody measured."""
    (limb,) = make_limbs(episode.robot_info, episode.urdf).values()
    poses = compute_poses(limb, limb.take(episode.gate["q_meas"].T).T)
    return episode.gate["meas_ns"], poses[:, :3]


def list_states(episode: Episode) -> list[str]:
    return [event["after"] for event in episode.events if event["event"] == "state"]


def hold(session, key: bytes, seconds: float) -> None:
    """Hold a key as a terminal tells it: once, a pause, then 30 times a second."""
    end = time.monotonic() + seconds
    session.press(key)
    time.sleep(0.4)
    while time.monotonic() < end:
        session.press(key)
        time.sleep(1 / 30)


def test_a_person_at_a_terminal_reads_words(tmp_path):
    triple = ["leader=keyboard", "follower=piper", "env=kinematic"]
    session = TerminalSession(triple, tmp_path / "out", PERSON)
    try:
        session.wait_for("Ready · episode 1 · press Enter", 40.0)
        session.press(b"\r")
        session.wait_for("Driving · episode 1 · 00:0")
        session.press(b" ")
        session.wait_for("Stopped · ")
        session.press(b"q")
        session.wait_gone()
        shown = session.text()
    finally:
        session.end()

    assert "ENGAGED" not in shown
    assert "WAITING" not in shown


def test_keys_start_move_stop_and_quit(start):
    undisturbed(lambda: check_a_held_key(start()))


def check_a_held_key(terminal) -> None:
    time.sleep(0.3)
    pressed_ns = time.monotonic_ns()
    hold(terminal, b"w", 1.0)
    released_ns = time.monotonic_ns()
    time.sleep(0.8)
    terminal.press(b"q")
    code = terminal.wait_gone()

    assert code == 0
    assert terminal.is_restored
    episode = terminal.episode()
    assert episode.is_complete
    assert list_states(episode) == ["ALIGNING", "ENGAGED", "CLOSING"], episode.events
    stamps, path = read_path(episode)
    assert_moved_forward(path, (released_ns - pressed_ns) * 1e-9)
    assert_stopped(stamps, path, released_ns)


def assert_moved_forward(path, held: float) -> None:
    """As far as the key was held, and until the dead-man let go."""
    dx, dy, dz = path[-1] - path[0]

    assert dx == pytest.approx(SPEED * (held + REPEAT), abs=0.03)
    assert abs(dy) < 2e-3
    assert abs(dz) < 2e-3


def assert_stopped(stamps, path, released_ns: int) -> None:
    after = path[stamps > released_ns + (REPEAT + 0.15) * 1e9]

    assert len(after) > 50
    assert np.ptp(after, axis=0).max() < 5e-4


@pytest.mark.nightly
def test_a_single_press_moves_for_the_stated_time(start):
    undisturbed(lambda: check_a_single_press(start()))


def check_a_single_press(terminal) -> None:
    time.sleep(0.3)
    terminal.press(b"a")
    time.sleep(FIRST + 0.4)
    terminal.press(b"n")
    terminal.wait_for("RESETTING")
    terminal.kill("session", signal.SIGINT)
    code = terminal.wait_gone()

    assert code == 128 + signal.SIGINT
    episode = terminal.episode()
    _, path = read_path(episode)
    assert episode.end_reason == "next"
    assert np.ptp(path[:, 1]) == pytest.approx(SPEED * FIRST, abs=0.015)
