"""What other ways would have made of the arrivals of one recorded episode."""

from __future__ import annotations

import numpy as np
import pytest

from paprle.config import resolve
from paprle.contracts.types import LeaderInfo, SessionState
from paprle.hosts.virtual import VirtualSession
from paprle.ipc.records import make_layout
from paprle.robot.empty_robot import NOBODY
from paprle_lab.evaluation.episode import make_blank, measure_episode
from paprle_lab.evaluation.reporting.page import render_page
from paprle_lab.evaluation.reporting.report import summary_text
from paprle_lab.evaluation.ways import compare_ways, list_rows

H_NS, EVERY, LATE_NS = 5_000_000, 4, 60_000_000  # a capture each 20 ms, 60 ms old
SPEED = 0.2  # [m/s]
HAND = LeaderInfo(limbs=("hand",), rate=50.0)
EVENTS = [{"event": "reconstruction", "leader": "", "policy": "ordered"}]
N = 2000


def record(place, order=lambda n: n):
    """Ticks of a session that a hand leads, whose captures come 60 ms late.

    Args:
        place: Where the hand is at a time, [s] to [m], shape (3,).
        order: Which capture comes as the n-th.
    """
    ticks = np.zeros(N, make_layout(NOBODY, HAND).tick)
    for k in range(N):
        n = k // EVERY
        stamp_ns = 10**9 + order(n) * EVERY * H_NS - LATE_NS
        sample = ticks[k]["sample"]
        sample["seq"], sample["stamp_ns"], sample["limb_ns"] = n + 1, stamp_ns, stamp_ns
        sample["pose"][0] = [*place(stamp_ns * 1e-9), 0.0, 0.0, 0.0, 1.0]
    ticks["stamp_ns"] = 10**9 + np.arange(N) * H_NS
    ticks["has_sample"], ticks["state"] = True, SessionState.ENGAGED
    return ticks


def straight(t):
    return np.array([SPEED * t, 0.0, 0.3])


def curve(t):
    return np.array([0.1 * np.sin(4.0 * t), 0.1 * np.cos(4.0 * t), 0.3])


def list_figures(ways):
    return [
        figure
        for one in ways.values()
        for figure in (*one["hand_to_asked_mm"].values(), one["acceleration_p99"])
    ]


def test_errors_of_a_steady_hand_are_its_speed_times_the_delays():
    ways = compare_ways(record(straight), HAND, EVENTS)

    hold, velocity, ours = (ways[one] for one in ("hold", "velocity", "ours"))
    # held for 0 to 15 ms in ticks; ours a period and 5 ms after the arrival
    mean = 1e3 * SPEED * (0.06 + 0.0075)
    assert hold["hand_to_asked_mm"]["p50"] == pytest.approx(mean, abs=0.6)
    assert ways["off"] == hold, "nothing came late"
    assert velocity["hand_to_asked_mm"]["p95"] < 0.01
    assert ours["hand_to_asked_mm"]["p50"] == pytest.approx(17.0, abs=0.6)
    assert ours["acceleration_p99"] < 0.1 < 100.0 < hold["acceleration_p99"]
    assert velocity["ours_is_nearer_percent"] == 0.0


def test_what_comes_late_and_out_of_order_bends_off_alone():
    swapped = compare_ways(record(curve, order=lambda n: n - (n % 2) * 2), HAND, EVENTS)

    off, hold, ours = (swapped[one] for one in ("off", "hold", "ours"))
    assert off["hand_to_asked_mm"]["p95"] > hold["hand_to_asked_mm"]["p95"]
    assert ours["acceleration_p99"] < 0.2 * hold["acceleration_p99"]


@pytest.mark.parametrize("jump", [1, 7, 900])
def test_blocks_and_pauses_change_no_figure_much(jump, monkeypatch):
    ticks = record(curve)
    whole = compare_ways(ticks, HAND, EVENTS)
    monkeypatch.setattr("paprle_lab.evaluation.store.BLOCK", 97)
    assert list_figures(compare_ways(ticks, HAND, EVENTS)) == pytest.approx(
        list_figures(whole), rel=1e-6
    )

    ticks["state"][1000 : 1000 + jump] = SessionState.CLUTCHED
    paused = compare_ways(ticks, HAND, EVENTS)
    for way in whole:
        was, now = (one[way]["hand_to_asked_mm"]["p50"] for one in (whole, paused))
        assert now == pytest.approx(was, rel=0.1)


@pytest.mark.parametrize(
    "events", [[], [{"event": "reconstruction", "leader": "", "policy": "latest"}]]
)
def test_a_leader_of_this_host_is_not_compared(events):
    assert compare_ways(record(straight), HAND, events) is None


def test_a_hand_that_was_never_seen_and_stamps_that_lie_are_no_figures():
    ticks = record(straight)
    ticks["sample"]["pose"] = np.nan
    assert compare_ways(ticks, HAND, EVENTS) is None

    ticks = record(straight)
    ticks["sample"]["stamp_ns"][N // 2 :] = 2**62  # and from there on nothing counts
    assert compare_ways(ticks, HAND, EVENTS)["ours"]["hand_to_asked_mm"]["p50"] > 0.0


@pytest.mark.long
def test_a_report_compares_what_the_session_did_with_other_ways(tmp_path):
    words = ["leader=autopilot", "follower=piper", "env=kinematic", "link.emulate=4g"]
    words += ["session.clock=virtual", "leader.size=0.03", "leader.speed=0.1"]
    assert VirtualSession(resolve([*words, f"record.dir={tmp_path}"])).run() == "done"

    result = measure_episode(tmp_path / "episode_000000.mcap")
    ways = result.entry["ways"]

    # the replay is the motion that the session asked for: its path is as smooth
    assert ways["ours"]["acceleration_p99"] < 0.1 * ways["hold"]["acceleration_p99"]
    assert ways["velocity"]["ours_is_nearer_percent"] < 50.0, (
        "it guesses, and wins here"
    )
    head, *rows = list_rows(result.entry)
    assert [row[0] for row in rows][-1] == "reconstructed"
    assert {len(row) for row in rows} == {len(head)}
    assert "m/s² at p99" in summary_text([result.entry | {"itv": None}])
    page = render_page([result.entry | {"itv": None}], [()], "title")
    assert "The same arrivals, in other ways" in page


def test_a_page_without_a_leader_far_away_has_no_such_table(tmp_path):
    assert not list_rows(make_blank(tmp_path / "episode.mcap"))
