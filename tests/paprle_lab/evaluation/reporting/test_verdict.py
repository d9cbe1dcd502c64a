"""The verdict of a report: its grade, its reason, and what was not judged."""

from __future__ import annotations

import copy

import pytest

from paprle_lab.evaluation.episode import measure_source
from paprle_lab.evaluation.reporting import report
from paprle_lab.evaluation.reporting.page import render_page
from paprle_lab.evaluation.reporting.verdict import judge_run

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def entry(make_episode):
    (entry,) = report.collect_entries([measure_source(make_episode(n=900))])
    return entry


@pytest.fixture
def run(entry):
    """An episode without a fault."""
    run = copy.deepcopy(entry)
    run |= {"is_complete": True, "is_discarded": False, "lag_ms": 10.0}
    run["end_reason"] = "leader_end"
    run["tick"]["on_time_percent"] = 100.0
    run["reach"] = {"reached_percent": 99.0, "short": []}
    run["ate_mm"]["raw"]["median"] = 0.2
    run["gate"] |= {"violations": 0, "violations_by_invariant": {"V1": 0, "C1": 0}}
    run["gate"] |= {"min_clearance_mm": 20.0, "nearest_pair": ["a", "b"]}
    run["latency_ms"]["capture_to_command"]["p50"] = 5.0
    return run


def test_a_run_without_a_fault_is_good(run):
    grade, sentences = judge_run(run)

    assert grade == "good"
    assert sentences == (
        "This run was good: the target was reached 99 % of the time, 0.200 mm off in "
        "the median.",
        "Every command kept the limits of motion; a and b came as near as 20.0 mm.",
        "Everything was judged.",
    )


@pytest.mark.parametrize(
    ("place", "value", "grade", "reason"),
    [
        (("reach", "reached_percent"), 80.0, "fair", "reached 80 % of the time"),
        (("tick", "on_time_percent"), 90.0, "fair", "10.0 % of the session's ticks"),
        (("lag_ms",), 400.0, "fair", "400 ms behind"),
        (("end_reason",), "stopped: operator_stop", "fair", "a stop ended it"),
        (("is_complete",), False, "bad", "not complete"),
        (("is_discarded",), True, "bad", "discarded"),
        (("tracking", "did_not_follow"), True, "bad", "did not follow"),
        (("gate", "violations_by_invariant", "V1"), 3, "bad", "commands broke V1"),
        (("ate_mm", "raw", "median"), None, "unknown", "never compared"),
        (("error",), "no such file", "unknown", "no such file"),
    ],
)
def test_a_fault_changes_the_grade_and_is_named(run, place, value, grade, reason):
    run["tracking"] = run["tracking"] or {"did_not_follow": False}
    *path, last = place
    node = run
    for key in path:
        node = node[key]
    node[last] = value

    found = judge_run(run)

    assert found.grade == grade
    assert reason in found.sentences[0]


@pytest.mark.parametrize(
    ("place", "gap"),
    [
        (("gate", "min_clearance_mm"), "collisions"),
        (("gate", "violations"), "limits of motion and collisions"),
        (("reach",), "whether targets were reached"),
        (("tick", "on_time_percent"), "kept its deadlines"),
        (("ate_mm", "raw", "median"), "errors and lag"),
        (("latency_ms", "capture_to_command", "p50"), "latency from capture"),
        (("lag_ms",), "lag"),
    ],
)
def test_unjudged_figures_are_listed(run, place, gap):
    *path, last = place
    node = run
    for key in path:
        node = node[key]
    node[last] = None

    assert gap in judge_run(run).sentences[2]


def test_stamps_without_an_exchanged_clock_are_no_judged_captures(make_episode):
    def judge(**told):
        episode = make_episode(n=900)
        episode.header["leader_info"] |= told
        (entry,) = report.collect_entries([measure_source(episode)])
        assert entry["latency_ms"]["capture_to_command"]["p50"] is not None
        return judge_run(entry).sentences[2]

    parts = {"parts": {"left": {"is_stamped_on_arrival": True}, "right": {}}}
    assert "no clock was exchanged" in judge(is_stamped_on_arrival=True)
    assert "no clock was exchanged" in judge(**parts)
    assert "no clock was exchanged" not in judge()


def test_the_page_begins_with_the_verdict(entry):
    html = render_page([entry], [[]], "a run")

    assert html.index('class="verdict') < html.index('class="say')
