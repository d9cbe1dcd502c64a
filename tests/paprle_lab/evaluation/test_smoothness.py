"""How smooth commands are, against motions of which it is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paprle.contracts.types import GateState
from paprle_lab.evaluation.episode import measure_source
from paprle_lab.evaluation.reporting.report_text import summarise_entry
from paprle_lab.evaluation.smoothness import measure_smoothness

H, N = 0.005, 2000
T = np.arange(N)[:, None] * H


@pytest.fixture
def rows(make_episode):
    """Return gate ticks, ENGAGED throughout, and the robot; q_cmd is to be written."""
    episode = make_episode(n=N)
    gate = episode.gate.copy()
    gate["state"] = GateState.ENGAGED
    return gate, episode.robot_info


def slow(size=0.3, rate=0.5):
    return size * np.sin(2.0 * np.pi * rate * T + 0.1) * np.ones(3)


def test_a_slow_sine_has_no_ripple_and_two_sign_changes_a_turn(rows):
    gate, robot = rows
    gate["q_cmd"] = slow()

    joint = measure_smoothness(gate, robot, H)["arm0"]

    assert joint["ripple"] == pytest.approx(1.0, abs=0.02)
    assert joint["sign_changes_per_s"] == pytest.approx(1.0, abs=0.2)
    assert joint["at_v_percent"] == joint["at_a_percent"] == 0.0


def test_chatter_on_one_joint_is_told_of_that_joint(rows):
    gate, robot = rows
    chatter = 8.0 * slow(0.3, 0.5).max() * (np.pi**2) / (2 * np.pi * 80.0) ** 2
    gate["q_cmd"] = slow()
    gate["q_cmd"][:, 1] += chatter * np.sin(2 * np.pi * 80.0 * T[:, 0])

    joints = measure_smoothness(gate, robot, H)

    assert joints["arm0"]["ripple"] < 1.02
    assert joints["arm1"]["ripple"] > 3.0
    assert joints["arm1"]["sign_changes_per_s"] > 100.0


def test_shares_at_limits_are_those_of_the_differences(rows):
    gate, robot = rows
    robot = replace(robot, dddq_max=np.array([100.0, 100.0, 1e9]))
    v = np.where(T < 5.0, 2.0, 0.5)  # V is 2 rad/s: half of the time
    gate["q_cmd"] = np.cumsum(v * np.ones(3), axis=0) * H

    joints = measure_smoothness(gate, robot, H)

    assert joints["arm0"]["at_v_percent"] == pytest.approx(50.0, abs=0.2)
    assert joints["arm0"]["at_a_percent"] == pytest.approx(100 / N, rel=0.1)
    assert joints["arm0"]["at_j_percent"] == pytest.approx(200 / N, rel=0.1)
    assert joints["arm2"]["at_j_percent"] == 0.0
    assert joints["arm0"]["ripple"] is not None


def test_a_gap_in_the_recording_is_no_leap(rows):
    gate, robot = rows
    gate["q_cmd"] = np.cumsum(np.full((N, 3), 0.5 * H), axis=0)
    gate["k"][N // 2 :] += 50
    gate["q_cmd"][N // 2 :] += 1.0

    joint = measure_smoothness(gate, robot, H)["arm0"]

    assert joint["at_v_percent"] == joint["at_a_percent"] == 0.0


@pytest.mark.parametrize("h", [None, H])
def test_unknown_figures_are_none(rows, h):
    gate, robot = rows
    gate["q_cmd"] = 0.0  # nothing moves

    joints = measure_smoothness(gate, replace(robot, dddq_max=None), h)

    if h is None:
        assert joints == {}
    else:
        assert joints["arm0"]["ripple"] is joints["arm0"]["at_j_percent"] is None


def test_the_report_says_the_worst_joint(make_episode):
    entry = measure_source(make_episode()).entry

    line = next(x for x in summarise_entry(entry).splitlines() if "smoothness" in x)

    assert "ripple 1." in line and "at A 0.0 %" in line and "at J –" in line
    assert set(entry["smoothness"]) == {"arm0", "arm1", "arm2"}
