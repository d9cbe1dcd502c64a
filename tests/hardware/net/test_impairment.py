"""A network that is played does what its trace says, and the same each time."""

from __future__ import annotations

import numpy as np
import pytest

from paprle.hardware.net.impairment import Impairment
from paprle.hardware.net.trace import Row, Trace, TraceError, list_profiles, load_traces

N = 4000
GAP = 0.01  # [s]


def play(row, seed=1, size=100, n=N, gap=GAP):
    """Return when each datagram arrived by its number, [s], in the order of arrival."""
    way, arrived = Impairment(Trace([row]), seed), {}
    for k in range(n + 200):
        now = k * gap
        if k < n:
            way.send(k.to_bytes(4, "big") + bytes(size - 4), now)
        for data in way.deliver(now):
            arrived[int.from_bytes(data[:4], "big")] = now
    return arrived, way


@pytest.mark.parametrize("burst", [1.0, 4.0])
def test_loss_is_the_share_it_says_in_runs_as_long_as_it_says(burst):
    arrived, way = play(Row(0.0, 0.02, loss=0.1, burst=burst))

    lost = np.array([k not in arrived for k in range(N)])
    runs = np.flatnonzero(np.diff(np.concatenate([[0], lost, [0]])))
    lengths = runs[1::2] - runs[::2]
    sigma = np.sqrt(0.1 * 0.9 * 2.0 * burst / N)
    assert abs(lost.mean() - 0.1) < 4 * sigma
    assert way.counts["lost"] == lost.sum()
    mean = 1.0 / (1.0 - 0.1) if burst == 1.0 else burst
    assert lengths.mean() == pytest.approx(mean, rel=0.25)


def test_delay_and_jitter_are_what_it_says_and_order_is_kept():
    arrived, _ = play(Row(0.0, 0.05, jitter=0.002))

    ways = np.array([at - k * GAP for k, at in arrived.items()])
    assert ways.min() >= 0.05 - 1e-9
    assert ways.mean() == pytest.approx(0.052 + GAP / 2, abs=0.006)
    assert list(arrived) == sorted(arrived)


def test_reordered_packets_overtake_each_other():
    arrived, _ = play(Row(0.0, 0.05, jitter=0.02, reorder=0.2))

    order = list(arrived)
    assert order != sorted(order)
    assert sorted(order) == list(range(N))


def test_a_narrow_network_queues_and_then_drops():
    arrived, way = play(Row(0.0, 0.0, rate=8 * 128 / GAP / 2))

    assert len(arrived) == pytest.approx(N / 2, rel=0.02)
    assert way.counts["dropped"] == N - len(arrived)
    assert max(at - k * GAP for k, at in arrived.items()) < 0.25


def test_the_same_seed_is_the_same_network():
    row = Row(0.0, 0.02, 0.01, loss=0.1, reorder=0.1)

    assert play(row, n=200)[0] == play(row, n=200)[0]
    assert play(row, n=200)[0] != play(row, seed=2, n=200)[0]


@pytest.mark.parametrize("name", list_profiles())
def test_profiles_that_come_with_the_project_can_be_played(name):
    traces = load_traces(name)

    assert set(traces) == {"up", "down"}
    assert traces["up"].at(1e6).delay > 0.0


@pytest.mark.parametrize(
    "text, why",
    [
        ("", "expected columns time, direction"),
        ("time,delay\n", "a row at time 0"),
        ("time,delay\n0,x\n", "row 2: expected numbers"),
        ("time,delay\n0,-1\n", "row 2: expected times"),
        ("time,delay,loss\n0,0,nan\n", "row 2: expected times"),
        ("time,delay,direction\n0,0,left\n", "expected up, down or both"),
        ("time,delay,speed\n0,0,1\n", "expected columns"),
        ("time,delay,direction\n0,0,up\n", "a row at time 0 for each"),
    ],
)
def test_malformed_trace_error_names_the_missing_column(tmp_path, text, why):
    path = tmp_path / "trace.csv"
    path.write_text(text)

    with pytest.raises(TraceError, match=why):
        load_traces(str(path))


def test_a_trace_goes_from_row_to_row_and_begins_again(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("# mine\ntime,delay,direction\n0,0.1,both\n1,0.2,up\n2,0.3,up\n")

    up = load_traces(str(path))["up"]

    assert [up.at(t).delay for t in (0.5, 1.5, 2.9, 3.5)] == [0.1, 0.2, 0.3, 0.1]


def test_a_name_that_is_no_trace_lists_those_there_are():
    with pytest.raises(TraceError, match=r"expected a CSV or one of 4g, 5g, 802\.11ac"):
        load_traces("nowhere")
