from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from paprle.contracts.types import GateState, SessionState
from paprle.gate.reasons import Reason
from paprle_lab.evaluation.episode import (
    list_posture_notes,
    measure_episode,
    measure_source,
)


def entry_of(episode) -> dict:
    entry = measure_source(episode).entry
    json.dumps(entry, allow_nan=False)  # JSON values only, and no NaN
    return entry


def text_of(entry: dict) -> str:
    return "\n".join(entry["notes"])


def test_a_robot_that_follows_with_a_delay_has_lag_but_no_other_error(make_episode):
    entry = entry_of(make_episode(delay=0.03, motion_delay=0.02))

    ate = entry["ate_mm"]
    assert ate["lag_compensated"]["tau_ms"] == pytest.approx(
        52, abs=0.1
    )  # 2 ms from capture to tick
    assert ate["lag_compensated"]["max"] < 0.05
    assert ate["raw"]["rmse"] > 1.0
    assert entry["lag_ms"] == pytest.approx(52, abs=0.2)
    assert entry["notes"] == []


def test_every_promised_figure_is_there(make_episode):
    entry = entry_of(make_episode())

    for kind in ("raw", "lag_compensated", "within_limits", "aligned"):
        for figure in ("mean", "median", "p95", "max", "rmse"):
            assert entry["ate_mm"][kind][figure] >= 0.0
    for kind in ("capture_to_command", "command_age", "command_to_motion"):
        assert entry["latency_ms"][kind]["p50"] <= entry["latency_ms"][kind]["p99"]
    for figure in ("rate_hz", "on_time_percent", "p50_us", "p99_us"):
        assert entry["tick"][figure] > 0.0
    assert entry["gate"]["violations"] == 0
    assert entry["gate"]["interventions"] == 0
    assert entry["end_reason"] == "leader_end"
    assert entry["is_complete"] is True
    assert entry["worst_limb"] == "arm"


def test_errors_caused_by_limits_are_listed_apart(make_episode):
    def limit(at):
        at.gate["reasons"][600:1000] |= 1 << Reason.ACCELERATION
        at.gate["q_des"][600:1000] += 0.05
        at.gate["reasons"][1200:1300] |= 1 << Reason.LATE  # no limit
        at.gate["q_meas"][610:990] += 0.05
        at.gate["q_meas"][1200:1300] += 0.01

    ate = entry_of(make_episode(change=limit))["ate_mm"]

    assert ate["lag_compensated"]["max"] > 20.0
    assert 4.0 < ate["within_limits"]["max"] < 15.0
    assert ate["within_limits"]["mean"] < 0.5 * ate["lag_compensated"]["mean"]
    assert ate["within_limits"]["share_percent"] == pytest.approx(76, abs=2)


def test_latencies_are_those_of_the_stamps(make_episode):
    latency = entry_of(make_episode(look_ahead=0.01))["latency_ms"]

    # captured 2 ms before the tick, written 1 ms after it, 10 ms of look-ahead
    assert latency["capture_to_command"]["p50"] == pytest.approx(13.0)
    assert latency["capture_to_command"]["includes_look_ahead_ms"] == 10.0
    assert latency["command_age"]["p99"] == pytest.approx(1.0)
    assert latency["command_to_motion"]["p50"] == pytest.approx(20.0, abs=0.5)
    assert set(latency["command_to_motion"]["by_joint"]) == {"arm0", "arm1", "arm2"}


@pytest.mark.parametrize(
    ("delay", "shown"), [(0.038, 38.0), (1e9, 0.0), ("soon", 0.0), (float("nan"), 0.0)]
)
def test_the_delay_of_a_reconstructed_leader_is_in_its_latency(
    make_episode, delay, shown
):
    event = {"event": "reconstruction", "delay": delay}
    episode = replace(make_episode(), events=(event,))

    captured = entry_of(episode)["latency_ms"]["capture_to_command"]

    assert captured["includes_reconstruction_ms"] == shown
    assert captured["p50"] == pytest.approx(3.0 + shown)


def test_tick_figures_are_those_of_the_loop(make_episode):
    def make_late(at):
        at.ticks["late_ns"][:100] = 4_800_000
        at.ticks["n_overruns"] = np.minimum(np.arange(len(at.ticks)), 100)

    tick = entry_of(make_episode(change=make_late))["tick"]

    assert tick["rate_hz"] == pytest.approx(200.0)
    assert tick["on_time_percent"] == pytest.approx(95.0)
    assert tick["p50_us"] == pytest.approx(300.0)
    assert tick["overruns"] == 100
    assert tick["lost"] == 0


def test_the_worst_limb_stands_on_top_and_all_stand_below(make_episode):
    def disturb(at):
        at.gate["q_meas"][:, 4] += 0.1

    entry = entry_of(make_episode(limbs=("left", "right"), change=disturb))

    assert entry["worst_limb"] == "right"
    assert set(entry["limbs"]) == {"left", "right"}
    assert entry["ate_mm"] == entry["limbs"]["right"]["ate_mm"]
    assert (
        entry["limbs"]["left"]["ate_mm"]["raw"]["rmse"]
        < entry["limbs"]["right"]["ate_mm"]["raw"]["rmse"]
    )


def test_a_command_that_breaks_a_limit_is_counted_by_invariant(make_episode):
    def jump(at):
        at.gate["q_cmd"][900:, 0] += 0.03

    gate = entry_of(make_episode(change=jump))["gate"]

    assert gate["violations"] == 3
    assert gate["violations_by_invariant"]["M4"] == 2
    assert gate["violations_by_invariant"]["M3"] == 1
    assert "joint 'arm0'" in gate["oracle"]


def test_records_that_were_lost_are_no_violation_but_counted(make_episode):
    episode = make_episode(rows=np.r_[0:700, 760:2000])

    entry = entry_of(episode)

    assert entry["gate"]["violations"] == 0
    assert entry["gate"]["gate_lost"] == 60
    assert entry["tick"]["lost"] == 60


def test_arming_elsewhere_is_no_jump_of_the_command(make_episode):
    def push_while_disarmed(at):
        at.gate["state"][:50] = GateState.DISARMED
        at.gate["q_cmd"][:50] = np.random.default_rng(0).normal(size=(50, 3))

    assert entry_of(make_episode(change=push_while_disarmed))["gate"]["violations"] == 0


def test_interventions_count_how_often_a_reason_set_in(make_episode):
    def act(at):
        at.gate["reasons"][300:400] |= 1 << Reason.VELOCITY
        at.gate["reasons"][350:360] |= 1 << Reason.POSITION
        at.gate["reasons"][500] |= 1 << Reason.VELOCITY

    gate = entry_of(make_episode(change=act))["gate"]

    assert gate["interventions"] == 3
    assert gate["interventions_by_reason"] == {"VELOCITY": 2, "POSITION": 1}


def test_only_what_happened_while_engaged_counts(make_episode):
    def clutch(at):
        at.ticks["state"][900:1100] = SessionState.CLUTCHED
        at.ticks["target"][900:1100, :, :3] += 5.0

    entry = entry_of(make_episode(change=clutch))

    assert entry["ate_mm"]["raw"]["max"] < 50.0
    assert entry["engaged_s"] == pytest.approx(8.0, abs=0.02)


def test_a_sample_that_is_used_twice_counts_once(make_episode):
    def hold(at):
        at.ticks["sample"]["seq"] = np.arange(len(at.ticks)) // 6 + 1

    entry = entry_of(make_episode(change=hold))

    assert entry["n_samples"] == pytest.approx(1800 / 6, abs=1)


def test_rows_that_are_not_finite_are_counted_and_left_out(make_episode):
    def spoil(at):
        at.ticks["target"][500:510, 0, 1] = np.nan
        at.ticks["target"][600, 0, 3:] = 0.0

    entry = entry_of(make_episode(change=spoil))

    assert entry["limbs"]["arm"]["dropped"]["nan"] == 10
    assert entry["limbs"]["arm"]["dropped"]["quaternion"] == 1
    assert "10 target rows that are not finite" in text_of(entry)
    assert entry["ate_mm"]["raw"]["max"] < 50.0


def test_duplicate_stamps_are_counted_and_left_out(make_episode):
    def repeat(at):
        stamps = at.ticks["sample"]["limb_ns"]
        stamps[801:804] = stamps[800]
        at.gate["meas_ns"][900:950] = at.gate["meas_ns"][900]

    entry = entry_of(make_episode(change=repeat))

    assert entry["limbs"]["arm"]["dropped"]["duplicate"] == 3
    assert entry["ate_mm"]["raw"]["rmse"] is not None


def test_a_leader_of_joints_is_compared_with_the_pose_it_asked_for(make_episode):
    def joints_only(at):
        at.ticks["target"] = np.nan

    entry = entry_of(make_episode(change=joints_only))

    assert entry["limbs"]["arm"]["target"] == "FK of q_des"
    assert entry["ate_mm"]["lag_compensated"]["max"] < 0.1
    assert "the leader gave joints" in text_of(entry)


@pytest.mark.parametrize(
    ("rows", "note"),
    [
        pytest.param(slice(0, 0), "holds no session tick", id="empty"),
        pytest.param(slice(0, 150), "never ENGAGED", id="never engaged"),
        pytest.param(slice(200, 201), "no target pose while", id="one sample"),
        pytest.param(slice(200, 250), "no ENGAGED stretch is longer", id="a quarter s"),
    ],
)
def test_an_episode_with_little_in_it_says_so(make_episode, rows, note):
    entry = entry_of(make_episode(rows=rows))

    assert note in text_of(entry)
    assert entry["ate_mm"]["lag_compensated"]["rmse"] is None
    assert entry["ate_mm"]["lag_compensated"]["tau_ms"] is None


def test_ticks_without_a_gate_are_no_reason_to_fail(make_episode):
    episode = make_episode()
    object.__setattr__(episode, "gate", episode.gate[:0])

    entry = entry_of(episode)

    assert entry["ate_mm"]["raw"]["rmse"] is None
    assert entry["tick"]["rate_hz"] == pytest.approx(200.0)


def test_a_file_that_is_no_recording_says_so(tmp_path):
    path = tmp_path / "episode_000000.mcap"
    path.write_bytes(b"not an mcap file")

    entry = measure_episode(path).entry

    assert entry["error"]
    assert entry["ate_mm"]["raw"]["rmse"] is None
    json.dumps(entry)


def test_a_missing_file_says_so(tmp_path):
    entry = measure_episode(tmp_path / "none.mcap").entry

    assert "none.mcap" in entry["error"]


def test_unreachable_poses_and_changed_postures_are_noted_once():
    stuck = {"event": "stuck_in_reach", "limb": "arm", "cause": "joint4 at its limit"}
    missed = {"event": "posture", "limb": "arm", "of": 2, "reached": 0.651}
    whole = {"event": "posture", "limb": "left", "of": 4, "reached": 1.0}
    unknown = {"event": "posture", "limb": "left", "of": 4}

    notes = list_posture_notes([missed, whole, unknown, stuck, stuck])

    assert notes == [
        "'arm' did not reach 34.9% of its path from 2 starting posture(s) that were "
        "tried beforehand",
        "'arm' was stuck (joint4 at its limit) though another posture reached its "
        "target",
    ]


def test_an_event_of_a_stranger_gives_no_traceback():
    odd = [
        {"event": "posture", "reached": "half"},
        {"event": "posture", "reached": 0.5},
        {"event": "stuck_in_reach"},
        {"event": ["posture"]},
    ]

    assert len(list_posture_notes(odd)) == 2
