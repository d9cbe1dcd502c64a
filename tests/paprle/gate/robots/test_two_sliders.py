"""Two limbs that may meet: what of one is the other's, and what is not."""

from __future__ import annotations

import numpy as np
import pytest
from adversary import drive
from minimal_robots import gap, make_sliders

from paprle.gate import limits, step
from paprle.gate.gate import Gate

H, KEEP = 0.01, 0.01  # [s], [m]


def test_a_robot_that_is_where_its_command_is_moves_as_one_that_measures_nothing():
    blind, seeing = Gate(make_sliders(), h=H), Gate(make_sliders(), h=H)
    for _ in range(120):
        path = blind.step(np.ones(2), H).q_cmd
        assert path == pytest.approx(
            seeing.step(np.ones(2), H, q_meas=seeing.q_cmd).q_cmd, abs=1e-12
        )
    assert gap(path) < KEEP + 2e-3


def test_two_that_pressed_and_may_not_move_for_a_period_are_known_as_they_go_on():
    gate = Gate(make_sliders(), h=H)
    drive(gate, [np.ones(2)] * 150, H)

    gate.speed_scale = 0.0
    gate.step(np.ones(2), H)
    gate.speed_scale = 1.0

    for _ in range(20):
        command = gate.step(np.zeros(2), H).q_cmd
        assert gate.q_limited.tolist() == command.tolist()
    assert gap(command) > 2 * KEEP


def test_limbs_slide_each_at_its_own_pace():
    gate = Gate(make_sliders(), h=H)

    assert [own.tolist() for own in gate._sliding._limbs] == [[0], [1]]


@pytest.mark.parametrize("way", [0.4, -0.4])
def test_only_a_limb_that_is_asked_for_nothing_is_held_to_braking(way):
    gate = Gate(make_sliders(), h=H)
    parts = gate._parts
    limits.fill_box(parts.limits, H, 1.0, np.zeros(2), np.zeros(2), parts.box)
    parts.box.dq_goal[:] = way, 0.0
    before = parts.box.low[0], parts.box.high[0]

    step._brake_idle_limbs(parts.limits, parts.box)

    assert (parts.box.low[0], parts.box.high[0]) == before
    assert parts.box.low[1] == parts.box.high[1] == parts.box.brake[1]


def test_a_braking_limb_slides_no_more():
    gate = Gate(make_sliders(), h=H)
    drive(gate, [np.ones(2)] * 150, H)
    assert gate._is_sliding

    gate.step(None, H)

    assert not gate._is_sliding


def test_as_much_may_change_until_a_stop_whichever_way_joints_go():
    there, back = Gate(make_sliders(), h=H), Gate(make_sliders(), h=H)
    for gate in (there, back):
        gate._parts.collision.blocks.keep[:] = np.inf  # however far they are
        gate._parts.collision.blocks.reach.rate[:] = 1e6
    changes = []
    for _ in range(12):
        there.step(np.full(2, 0.2), H)
        back.step(np.full(2, -0.2), H)
        change = there._parts.collision.measured.max_change
        assert change == pytest.approx(back._parts.collision.measured.max_change)
        changes.append(change.item())
    assert changes[-1] > 2.0 * changes[0], "the quicker, the more"
