"""The benchmark of bad networks measures what ships, on networks as they are."""

from __future__ import annotations

import json

import numpy as np
import pinocchio as pin
import pytest
from cells import spread

from benchmarks.remote.telexr import gather_motions, load_networks, measure, run
from paprle.hardware.net.trace import Row, Trace


@pytest.mark.long
@pytest.mark.parametrize("name", spread(["4g", "acceptance"], "acceptance"))
def test_the_picture_that_ships_is_nearer_the_robot_than_what_holds_or_goes_on(name):
    hand, network = gather_motions(None)["slow curve"], load_networks(None)[name]

    hold, velocity, ours = (
        measure(run(hand, network, way, 0)) for way in ("hold", "velocity", "ours")
    )

    assert ours["shown-robot"] < 0.2 * hold["shown-robot"]
    assert ours["shown-robot"] < velocity["shown-robot"]
    assert ours["teleoperation"] < 0.8 * hold["teleoperation"]
    assert ours["shape"] < hold["shape"]


@pytest.mark.parametrize("way", ["hold", "velocity"])
def test_an_error_is_speed_times_delay_where_nothing_predicts(way):
    def hand(t):
        return _at(0.2 * t)

    delay, tick, word, capture, picture = 0.05, 0.005, 0.02, 1 / 60, 0.02
    network = [Trace([Row(0.0, delay)])] * 2

    one = measure(run(hand, network, way, 0))

    waits = tick + 0.5 * (capture + word + picture)
    expected = 200.0 * (2 * delay + waits) if way == "hold" else 200.0 * 0.5 * picture
    assert one["teleoperation"] == pytest.approx(expected, abs=200.0 * 0.015)


def test_measured_round_trips_are_half_one_way_as_often_as_they_were(tmp_path):
    told = {
        "test_config": {"fps": 20},
        "resolutions": {"240p": {"raw_latencies": [40.0, 60.0, 120.0]}},
    }
    (tmp_path / "network").mkdir()
    (tmp_path / "network" / "avp_wireless-mono.json").write_text(json.dumps(told))

    up, down = load_networks(tmp_path / "motion")["wifi 240p"]

    for trace in (up, down):
        assert [row.delay for row in trace.rows] == pytest.approx([0.02, 0.03, 0.06])
        assert trace.at(0.07).delay == pytest.approx(0.03)
        assert trace.length == pytest.approx(0.15)


def _at(x):
    return pin.SE3(np.eye(3), np.array([x, 0.0, 0.0]))
