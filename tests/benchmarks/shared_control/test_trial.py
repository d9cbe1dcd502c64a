"""Scripted users of one axis, in whole sessions on the virtual clock."""

import pytest

pytest.importorskip("mujoco")
pytest.importorskip("pygame")

from benchmarks.shared_control.trial import TrialSession

pytestmark = [pytest.mark.sim, pytest.mark.long]


def test_a_user_of_one_axis_and_one_button_places_the_block():
    # the block's place lets joints 1 and 3 stand nearly in line, at little inertia
    trial = TrialSession("continuous", 39).play()

    assert trial.is_placed
    assert trial.time < 25.0
    assert 4 <= trial.switches <= 10
