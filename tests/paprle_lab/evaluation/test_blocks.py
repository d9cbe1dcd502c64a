"""What is measured does not depend on how many rows are looked at together."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paprle.contracts.types import GateState
from paprle.gate.reasons import Reason
from paprle.oracle import CommandJudge, JudgedLimits, check_commands
from paprle_lab.evaluation import store
from paprle_lab.evaluation.episode import measure_source
from paprle_lab.evaluation.itv import resample_by_arc_length
from paprle_lab.evaluation.metrics import SpanFinder, find_spans
from paprle_lab.evaluation.store import NumberColumn, Store, Thinned

SLOW = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
ANY = settings(max_examples=4, deadline=None, suppress_health_check=SLOW)


def trouble(at):
    """Some of everything: short of targets, held back, gaps, disorder, two armings."""
    n = len(at.gate)
    at.ticks["err_pos"][300:420] = 0.02
    at.gate["q_cmd"][500:560] = at.gate["q_cmd"][500]
    at.gate["reasons"][500:560] |= np.uint64(1 << Reason.BLOCKED)
    at.gate["q_meas"][500:560] = at.gate["q_meas"][500]
    at.gate["q_cmd"][700, 1] += 0.2  # A, V and V1
    at.gate["stamp_ns"][620] -= 4_500_000  # T1
    at.gate["state"][640:650] = GateState.DISARMED
    at.gate["k"][720:] += 3
    at.ticks["target"][430:440] = np.nan
    at.ticks["sample"]["limb_ns"][450] = at.ticks["sample"]["limb_ns"][449]
    at.gate["meas_ns"][: n // 4] = (
        at.gate["meas_ns"][: n // 4] // 20_000_000 * 20_000_000
    )


def assert_same(a, b, where=""):
    assert type(a) is type(b), where
    if isinstance(a, dict):
        assert list(a) == list(b), where
        for key in a:
            assert_same(a[key], b[key], f"{where}/{key}")
    elif isinstance(a, list):
        assert len(a) == len(b), where
        for one, other in zip(a, b, strict=True):
            assert_same(one, other, where)
    elif isinstance(a, float):
        assert math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9), (where, a, b)
    else:
        assert a == b, where


@pytest.fixture(scope="module")
def troubled(make_episode):
    """Return an episode with trouble, and what is measured of all its rows at once."""
    episode = make_episode(n=900, delay=0.01, change=trouble)
    return episode, measure_source(episode)


@pytest.mark.nightly
@pytest.mark.long
@ANY
@given(size=st.integers(3, 1000))
def test_figures_do_not_depend_on_the_size_of_a_block(troubled, size):
    episode, whole = troubled
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "BLOCK", size)
        cut = measure_source(episode)

    json.dumps(cut.entry, allow_nan=False)
    assert whole.entry["gate"]["violations"] > 3
    assert len(whole.entry["limbs"]["arm"]["reach"]["short"]) > 1
    assert_same(whole.entry, cut.entry)


@ANY
@given(seed=st.integers(0, 1000), sizes=st.lists(st.integers(0, 40), max_size=30))
def test_stretches_do_not_depend_on_where_flags_are_cut(seed, sizes):
    random = np.random.default_rng(seed)
    flags = random.random(sum(sizes)) < 0.7
    t = np.cumsum(random.random(len(flags)))
    finder, at = SpanFinder(), 0

    for size in sizes:
        finder.add(t[at : at + size], flags[at : at + size])
        at += size

    assert np.array_equal(finder.finish(), find_spans(t, flags))


@ANY
@given(seed=st.integers(0, 1000), sizes=st.lists(st.integers(1, 60), min_size=1))
def test_the_oracle_judges_pieces_as_it_judges_the_whole(seed, sizes):
    random = np.random.default_rng(seed)
    limits = JudgedLimits(
        q_min=np.full(2, -1.0), q_max=np.full(2, 1.0), dq_max=np.full(2, 1.0),
        ddq_max=np.full(2, 10.0), h=0.01, joint_names=("a", "b"),
    )  # fmt: skip
    q = np.cumsum(random.normal(0.0, 0.004, (sum(sizes), 2)), axis=0)
    t_ns = np.cumsum(random.integers(6_000_000, 12_000_000, len(q)))
    whole = check_commands(q, limits, t_ns=t_ns)
    judge, at = CommandJudge(limits), 0

    for size in sizes:
        V = np.broadcast_to(limits.dq_max, (size, 2))
        judge.add(q[at : at + size], V, t_ns[at : at + size])
        at += size

    assert judge.n_samples == whole.n_samples
    assert judge.counts == whole.counts
    assert sorted(judge.violations, key=repr) == sorted(whole.violations, key=repr)


@ANY
@given(
    values=st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=400),
    percent=st.sampled_from([0, 1, 50, 95, 99, 100]),
)
def test_ranks_among_more_values_than_are_sorted_at_once_are_exact(values, percent):
    column = NumberColumn()
    for value in np.array_split(values, 7):
        column.append(value)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "_SORTED", 0)
        patch.setattr(store, "BLOCK", 64)
        found = column.percentile(percent)

    assert found == pytest.approx(np.percentile(values, percent), rel=1e-12, abs=1e-12)
    assert column.mean == pytest.approx(np.mean(values), rel=1e-9, abs=1e-6)
    assert column.largest == max(values)


def test_a_store_that_went_to_the_disk_gives_back_what_it_was_given(monkeypatch):
    monkeypatch.setattr(store, "SMALL", 100)
    dtype = np.dtype([("k", "i8"), ("q", "f8", (3,))])
    rows = np.zeros(50, dtype)
    rows["k"], rows["q"] = np.arange(50), np.arange(150).reshape(50, 3)
    kept = Store(dtype)

    for part in np.array_split(rows, 5):
        kept.append(part)

    assert len(kept) == 50
    assert np.array_equal(kept[:], rows)
    assert np.array_equal(kept[13:29], rows[13:29])
    assert len(kept[50:60]) == 0


def test_a_store_keeps_the_fields_that_it_was_made_for():
    rows = np.zeros(
        4, [("a", "i8"), ("b", "f8", (2,)), ("in", [("c", "i4"), ("d", "i4")])]
    )
    rows["b"], rows["in"]["d"] = 7.0, [1, 2, 3, 4]
    kept = Store([("b", "f8", (2,)), ("in", [("d", "i4")])])

    kept.append(rows)

    assert np.array_equal(kept[:]["b"], rows["b"])
    assert np.array_equal(kept[:]["in"]["d"], [1, 2, 3, 4])


@ANY
@given(sizes=st.lists(st.integers(0, 90), max_size=30))
def test_thinned_rows_are_evenly_spaced_and_few(sizes):
    thinned, at = Thinned(np.int64, most=50), 0
    for size in sizes:
        thinned.add(np.arange(at, at + size))
        at += size

    kept = thinned.rows

    step = int(kept[1] - kept[0]) if len(kept) > 1 else 1
    assert np.array_equal(kept, np.arange(0, at, step))
    assert at / step <= 51 or len(kept) <= 50


def test_a_thinned_path_is_as_long_as_the_path():
    t = np.linspace(0.0, 20.0, 100_000)
    path = np.stack([np.cos(t), np.sin(t), 0.1 * t], axis=1)
    thinned = Thinned([("p", "f8", (3,))], most=5000)
    rows = np.zeros(len(t), [("p", "f8", (3,))])
    rows["p"] = path
    thinned.add(rows)

    apart = resample_by_arc_length(thinned.rows["p"]) - resample_by_arc_length(path)

    assert np.linalg.norm(apart, axis=1).max() < 0.02
