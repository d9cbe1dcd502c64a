"""What a robot was short of, against motions of which it is known.

The arm of these recordings turns about z at (0.2, 0, 0.1) and about y at (0.4, 0, 0.2);
its hand is at (0.4, 0, 0.1) from there, and the third joint only turns the hand.
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from paprle.gate.reasons import Reason
from paprle_lab.evaluation.episode import measure_source
from paprle_lab.evaluation.reporting.reach_text import describe_reach, list_advice
from paprle_lab.evaluation.reporting.report_text import summarise_entry

PERIOD = 0.005
FIRST, N = 200, 2000  # ENGAGED begins at this tick; all ticks
BOUND = 2.0
M = 161  # periods of the mean where J is low: 0.8 s


def place_hand(q: np.ndarray) -> np.ndarray:
    """The hand's position at joints (…, 3), by hand, [m]."""
    x = 0.2 + 0.4 * np.cos(q[..., 1]) + 0.1 * np.sin(q[..., 1])
    z = 0.2 + 0.1 * np.cos(q[..., 1]) - 0.4 * np.sin(q[..., 1])
    c, s = np.cos(q[..., 0]), np.sin(q[..., 0])
    return np.stack([0.2 + c * x, s * x, z], axis=-1)


def ask(at, rows, q_des, position):
    """Let the IK answer targets at positions with q_des, and note what it left."""
    at.ticks["q_des"][rows] = q_des
    at.ticks["target"][rows, 0, :3] = position
    at.ticks["err_pos"][rows, 0] = np.linalg.norm(
        place_hand(at.ticks["q_des"][rows]) - position, axis=-1
    )


def reach_of(episode) -> dict:
    entry = measure_source(episode).entry
    json.dumps(entry, allow_nan=False)
    return entry["limbs"]["arm"]["reach"]


def by_cause(reach: dict) -> dict[str, dict]:
    return {one["cause"]: one for one in reach["short"]}


def share(n_ticks: int) -> float:
    return 100.0 * n_ticks / (N - FIRST - 1)


def test_all_is_reached_when_the_ik_left_nothing_and_the_gate_sent_all(make_episode):
    reach = reach_of(make_episode())

    assert reach["reached_percent"] == 100.0
    assert reach["short"] == []
    assert describe_reach(reach) == "reached 100 %"


def test_a_joint_pinned_at_its_limit_is_named_with_its_share_and_time(make_episode):
    rows = slice(600, 1000)

    def pin(at):
        beyond = np.tile([BOUND + 0.2, 0.3, 0.0], (400, 1))
        ask(at, rows, [BOUND, 0.3, 0.0], place_hand(beyond))

    reach = reach_of(make_episode(change=pin))

    bound = by_cause(reach)["bound"]
    assert bound["percent"] == pytest.approx(share(400), abs=0.1)
    assert bound["seconds"] == pytest.approx(400 * PERIOD, abs=0.01)
    assert bound["longest_s"] == pytest.approx(400 * PERIOD, abs=0.01)
    assert list(bound["joints"]) == ["arm0"]
    chord = 2.0 * np.sin(0.1) * (0.2 + 0.4 * np.cos(0.3) + 0.1 * np.sin(0.3))
    assert bound["farthest_mm"] == pytest.approx(1e3 * chord, rel=1e-6)
    assert reach["reached_percent"] == pytest.approx(100 - share(400), abs=0.1)
    assert "arm0 at its limit 22 %" in describe_reach(reach)


@pytest.mark.long
def test_a_target_beyond_the_stretched_arm_is_out_of_reach(make_episode):
    stretched = np.array([0.0, np.arctan2(0.1, 0.4), 0.0])  # farthest from z

    def stretch(at):
        for begin in (500, 900):
            ask(at, slice(begin, begin + 200), stretched,
                place_hand(stretched) + [0.15, 0.0, 0.0])  # fmt: skip

    reach = reach_of(make_episode(change=stretch))

    out = by_cause(reach)["out_of_reach"]
    assert out["percent"] == pytest.approx(share(400), abs=0.1)
    assert out["longest_s"] == pytest.approx(200 * PERIOD, abs=0.01)
    assert out["farthest_mm"] == pytest.approx(150.0)
    assert "bound" not in by_cause(reach)


def test_a_joint_at_A_towards_a_target_it_could_reach_is_late(make_episode):
    ddq_max = 20.0
    t = np.arange(60) * PERIOD

    def race(at):
        q = np.zeros((60, 3))
        q[:, 0] = 0.5 * ddq_max * t * (t + PERIOD) - 0.9  # every step faster by A·dt
        ahead = q + [0.1, 0.0, 0.0]
        ask(at, slice(600, 660), q, place_hand(ahead))

    causes = by_cause(reach_of(make_episode(change=race)))

    assert causes["acceleration"]["percent"] == pytest.approx(share(58), abs=0.2)
    joints = causes["acceleration"]["joints"]  # all of them jump once, into the race
    assert joints["arm0"] == pytest.approx(share(58), abs=0.2)
    assert joints["arm1"] < 0.2
    assert "out_of_reach" not in causes


def test_a_joint_at_V_is_named_as_such(make_episode):
    def run(at):
        q = np.zeros((100, 3))
        q[:, 0] = 2.0 * PERIOD * np.arange(100) - 0.5  # V is 2 rad/s
        ask(at, slice(600, 700), q, place_hand(q + [0.1, 0.0, 0.0]))

    causes = by_cause(reach_of(make_episode(change=run)))

    assert causes["velocity"]["percent"] == pytest.approx(share(99), abs=0.2)
    assert causes["velocity"]["joints"]["arm0"] == pytest.approx(share(99), abs=0.2)
    assert causes["velocity"]["joints"]["arm1"] < 0.2


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        (Reason.CLEARANCE, "clearance"),
        (Reason.BLOCKED, "blocked"),
        (Reason.TOOL_SPEED, "tool_speed"),
        (Reason.ACCELERATION, "acceleration"),
    ],
)
def test_a_shortfall_of_the_gate_is_named_by_its_reason(make_episode, reason, cause):
    def hold(at):
        at.gate["reasons"][600:1000] |= 1 << reason
        at.gate["q_des"][600:1000, 0] += 0.05

    reach = reach_of(make_episode(change=hold))

    assert list(by_cause(reach)) == [cause]
    assert reach["short"][0]["seconds"] == pytest.approx(400 * PERIOD, abs=0.02)


def play_mean(at):
    """Send what the mean makes of the commands asked for; the robot follows."""
    q = at.gate["q_des"]
    first = np.repeat(q[:1], M - 1, axis=0)
    sums = np.cumsum(np.concatenate([0 * q[:1], first, q]), axis=0)
    at.gate["q_cmd"] = at.gate["q_meas"] = (sums[M:] - sums[:-M]) / M


def play_late(at):
    """Send what was asked for, as late as the mean is."""
    late = (M - 1) // 2
    at.gate["q_cmd"][late:] = at.gate["q_meas"][late:] = at.gate["q_des"][:-late]


def limit_jerk(episode):
    """Give the robot a J that asks for a mean of M periods."""
    A = episode.robot_info.ddq_max
    robot = episode.header["robot"] | {"dddq_max": list(2.0 * A / (M * PERIOD))}
    return replace(episode, header={**episode.header, "robot": robot})


def test_corners_that_a_low_J_cuts_are_short_of_J(make_episode):
    reach = reach_of(limit_jerk(make_episode(change=play_mean)))

    assert list(by_cause(reach)) == ["jerk"]
    assert by_cause(reach)["jerk"]["percent"] > 90.0
    assert ", jerk limit " in describe_reach(reach)
    entry = measure_source(limit_jerk(make_episode(change=play_mean))).entry
    assert any("more than the jerk limit" in line for line in list_advice(entry))


def test_a_delay_by_J_alone_is_no_shortage(make_episode):
    reach = reach_of(limit_jerk(make_episode(change=play_late)))

    assert reach["reached_percent"] == 100.0


def test_a_limits_shortfall_in_the_mean_is_not_counted_as_J(
    make_episode,
):
    def hold(at):
        play_mean(at)
        at.gate["reasons"][200:] |= 1 << Reason.ACCELERATION

    assert list(by_cause(reach_of(limit_jerk(make_episode(change=hold))))) == [
        "acceleration"
    ]


def test_a_reason_of_the_gate_that_cost_nothing_is_no_shortage(make_episode):
    def brush(at):
        at.gate["reasons"][600:1000] |= 1 << Reason.ACCELERATION
        at.gate["q_des"][600:1000, 0] += 1e-5

    assert reach_of(make_episode(change=brush))["reached_percent"] == 100.0


def test_limits_met_because_of_an_obstacle_are_not_counted_beside_it(make_episode):
    def hold(at):
        at.gate["reasons"][600:1000] |= 1 << Reason.BLOCKED | 1 << Reason.POSITION
        at.gate["q_des"][600:1000, 0] += 0.05

    assert list(by_cause(reach_of(make_episode(change=hold)))) == ["blocked"]


@pytest.mark.long
def test_one_limb_held_back_is_not_a_shortage_of_the_other(make_episode):
    def hold(at):
        at.gate["reasons"][600:1000] |= 1 << Reason.CLEARANCE
        at.gate["q_des"][600:1000, :3] += 0.05

    entry = measure_source(make_episode(limbs=("left", "right"), change=hold)).entry

    shares = {k: v["reach"]["reached_percent"] for k, v in entry["limbs"].items()}
    assert shares["left"] < 80.0
    assert shares["right"] == 100.0


def test_joints_asked_to_go_beyond_their_limits_are_named(make_episode):
    def exceed(at):
        at.ticks["target"] = np.nan  # the leader gives joints
        at.ticks["err_pos"] = np.nan
        at.ticks["q_des"][600:1000, 1] = BOUND + 0.3

    reach = reach_of(make_episode(change=exceed))

    assert by_cause(reach)["bound"]["joints"] == {
        "arm1": pytest.approx(share(400), abs=0.1)
    }


@pytest.mark.long
def test_advice_names_what_was_in_the_way(make_episode):
    def pin(at):
        beyond = np.tile([BOUND + 0.2, 0.3, 0.0], (400, 1))
        ask(at, slice(600, 1000), [BOUND, 0.3, 0.0], place_hand(beyond))

    pinned = measure_source(make_episode(change=pin)).entry
    free = measure_source(make_episode()).entry

    assert any("range of arm0" in line for line in list_advice(pinned))
    assert list_advice(free)[0].startswith("Nothing stood in the way")


def test_the_summary_says_what_was_short_and_for_how_long(make_episode):
    def pin(at):
        beyond = np.tile([BOUND + 0.2, 0.3, 0.0], (400, 1))
        ask(at, slice(600, 1000), [BOUND, 0.3, 0.0], place_hand(beyond))

    text = summarise_entry(measure_source(make_episode(change=pin)).entry)

    assert "reached 78 %, not reached from this posture 22 %, arm0 at its limit" in text
    assert "2.0 s short; not reached from this posture for up to 2.0 s" in text
