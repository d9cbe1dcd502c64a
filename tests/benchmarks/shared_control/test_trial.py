"""Scripted users of one axis, in whole sessions on the virtual clock."""

from dataclasses import replace

import pytest

pytest.importorskip("mujoco")
pytest.importorskip("pygame")

from benchmarks.shared_control.trial import TrialSession

pytestmark = [pytest.mark.sim, pytest.mark.long]


@pytest.mark.nightly
def test_a_user_of_one_axis_and_one_button_places_the_block():
    # the block's place lets joints 1 and 3 stand nearly in line, at little inertia
    trial = TrialSession("continuous", 39).play()

    assert trial.is_placed
    assert trial.time < 25.0
    assert 4 <= trial.switches <= 10


@pytest.mark.nightly
def test_a_user_held_by_the_gate_continues_or_fails_in_time():
    """The robot says nothing for a moment: the user grips again."""
    session = TrialSession("continuous", 0)
    follower, n = session.follower, 0
    read = follower.read

    def fall_silent():
        nonlocal n
        n += 1
        state = read()
        is_gap = 200 < n < 209  # older than the gate lets pass
        return replace(state, stamp_ns=10**9 + 200 * 20_000_000) if is_gap else state

    follower.read = fall_silent
    trial = session.play()

    assert trial.is_placed
    assert trial.time < 40.0
