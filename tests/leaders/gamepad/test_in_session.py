"""Acceptance: virtual pads drive two robots through the whole pipeline."""

import numpy as np
import pytest
from pad_session import HOLD, PadSession, measure_force

from paprle.contracts.types import SessionState

ROBOTS = "piper", "papras_7dof"
WORDS = "env=kinematic", "leader.curve=1", "leader.speed=0.1"


def push(_):
    return {"lefty": -1.0}


def weave(t):
    """A path in three directions, with turns; smooth, as a thumb is."""
    return {
        "lefty": -(np.sin(np.pi * t / 2.0) ** 2),
        "leftx": 0.8 * np.sin(np.pi * t),
        "righty": -0.8 * np.sin(0.5 * np.pi * t),
        "rightx": 0.5 * np.sin(np.pi * t) ** 2,
    }


@pytest.mark.long
@pytest.mark.parametrize("follower", ROBOTS)
def test_a_stick_moves_a_robot_as_far_as_its_speed_says(follower):
    rig = PadSession(push, 1.0, f"follower={follower}", *WORDS).run()

    way = rig.p[-1] - rig.p[0]
    assert way[0] == pytest.approx(0.1, rel=0.02)
    assert np.abs(way[1:]).max() < 2e-3
    assert SessionState.ENGAGED in rig.states
    assert rig.session.core.end_reason == "done"


@pytest.mark.long
def test_the_path_is_the_same_at_25_100_and_200_hz():
    paths = {}
    for rate in (25, 100, 200):
        words = "follower=piper", *WORDS, f"session.rate={rate}"
        rig = PadSession(weave, 2.0, *words).run()
        paths[rate] = rig.p
    best = paths[200]
    length = np.linalg.norm(np.diff(best, axis=0), axis=1).sum()
    assert length > 0.1

    for rate in (25, 100):
        # how far each point of the path is from the other path, whatever the time
        gaps = np.linalg.norm(paths[rate][:, None] - best[None], axis=2).min(axis=1)
        assert gaps.max() < 0.01 * length, rate
        assert np.linalg.norm(paths[rate][-1] - best[-1]) < 0.01 * length, rate


@pytest.mark.long
def test_unplugging_releases_the_robot_and_plugging_in_does_not_take_it():
    rig = None

    def pull(t):
        if 0.5 <= t < 0.51:
            rig.pad.unplug()
        if 0.8 <= t < 0.81:
            rig.pad.plug()
            rig.pad.move(HOLD, 1.0)
        return {"lefty": -1.0}

    rig = PadSession(pull, 2.0, "follower=piper", *WORDS)
    rig.run()

    at = {t: int(np.searchsorted(rig.t, t)) for t in (0.5, 0.6, 1.9)}
    assert rig.states[at[0.5] - 2] is SessionState.ENGAGED
    assert rig.states[at[0.6]] is SessionState.CLUTCHED
    assert rig.states[at[1.9]] is SessionState.CLUTCHED
    # 100 ms and V/A, the speed of a hand of 0.1 m/s
    stopped = np.abs(np.diff(rig.q_cmd[at[0.6] + 20 : at[1.9]], axis=0))
    assert stopped.max() < 1e-9


@pytest.mark.long
def test_letting_go_stops_and_the_next_press_goes_on():
    def pause(t):
        return {HOLD: float(not 0.6 < t < 1.0), "lefty": -1.0}

    rig = PadSession(pause, 1.6, "follower=piper", *WORDS).run()

    at = {t: int(np.searchsorted(rig.t, t)) for t in (0.75, 0.95, 1.5)}
    rest = rig.p[at[0.75] : at[0.95]]
    assert np.ptp(rest, axis=0).max() < 1e-6
    assert rig.p[at[1.5]][0] - rest[-1][0] > 0.02


@pytest.mark.nightly
@pytest.mark.sim
@pytest.mark.long
def test_a_pad_rumbles_as_hard_as_the_robot_presses_on_its_table():
    """Acceptance 2: of MuJoCo's own contact force, and silent before and after."""

    def press(t):
        down = 1.0 if t < 3.2 else 0.2 if t < 5.2 else -1.0
        return {"righty": down}

    words = (
        "follower=piper",
        "env=mujoco",
        "env.rate=500",
        "leader.curve=1",
        "leader.dead_zone=0",
    )
    rig = PadSession(press, 7.0, *words, "leader.speed=0.1", watch=measure_force).run()

    n = len(rig.watched)
    force, strong = (
        np.array(rig.watched),
        np.array([told.touch for told in rig.felt[:n]]),
    )
    told = max(rig.pad.rumbled, key=lambda felt: felt.strong).strong
    first, last = np.flatnonzero(force > 5.0)[[0, -1]]
    assert strong[:first].max() == 0.0
    assert strong[last + 120 :].max() == 0.0
    rising = slice(first, first + int((strong[first:] > 0.95).argmax()))
    assert np.ptp(force[rising]) > 80.0
    felt = force[rising] > 20.0
    assert np.corrcoef(force[rising][felt], strong[rising][felt])[0, 1] > 0.98
    assert told == pytest.approx(1.0, abs=1e-3)
