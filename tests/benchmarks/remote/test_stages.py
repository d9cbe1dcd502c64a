"""Stages that share a resource (requirements T16, as corrected in 2.2 no. 4)."""

import os

import numpy as np
import pytest

from benchmarks.remote.stages import (
    STAGES,
    Stage,
    find_period,
    run_free,
    run_in_order,
    run_threads,
)

EVEN = tuple(Stage(name, 0.01, 1 / 30, spread=0.0) for name in "abcd")


def test_in_order_a_frame_is_as_old_as_its_stages_take_and_none_is_stale():
    outcome = run_in_order(EVEN, 0.04, 10.0)

    assert outcome.ages == pytest.approx([0.04] * 250)
    assert outcome.stale == 0
    assert outcome.backlog < 0.041
    assert np.diff(outcome.ends) == pytest.approx(0.04)


def test_the_papers_bound_without_the_last_stage_falls_behind_without_end():
    bound = sum(one.time for one in EVEN[:-1])

    short, long = (run_in_order(EVEN, bound, seconds) for seconds in (5.0, 20.0))

    assert short.backlog == pytest.approx(5.0 / 3, rel=0.1)  # t_n with each frame
    assert long.backlog == pytest.approx(4 * short.backlog, rel=0.1)


@pytest.mark.parametrize("seed", range(3))
def test_order_shows_younger_frames_than_stages_at_their_own_pace(seed):
    free = run_free(STAGES, 30.0, seed)
    ordered = run_in_order(STAGES, find_period(STAGES), 30.0, seed)

    assert np.median(ordered.ages) < 0.6 * np.median(free.ages)
    assert np.percentile(ordered.ages, 99) < np.percentile(free.ages, 99)
    assert ordered.stale < free.stale


def test_the_period_is_that_of_a_frame_and_not_of_the_worst_of_each_stage():
    alone = sum(find_period(STAGES[i : i + 1]) for i in range(len(STAGES)))

    assert sum(one.time for one in STAGES) < find_period(STAGES) < alone


@pytest.mark.timed
def test_threads_in_order_share_one_processor_and_wait_for_one_another():
    log = []

    def make(i):
        return lambda: log.append((i, len(os.sched_getaffinity(0))))

    ages = run_threads(
        [make(i) for i in range(3)], period=0.05, seconds=0.4, is_ordered=True
    )

    assert len(ages) >= 3
    assert [i for i, _ in log[: 3 * len(ages)]] == [0, 1, 2] * len(ages)
    assert {n for _, n in log} == {1}
