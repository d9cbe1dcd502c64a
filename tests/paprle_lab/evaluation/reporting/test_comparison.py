"""Several runs stand side by side, and the best figure of each row is marked."""

import copy

import pytest

from paprle_lab.evaluation.episode import measure_source
from paprle_lab.evaluation.reporting import report
from paprle_lab.evaluation.reporting.comparison import (
    ComparedFigure,
    compare_in_text,
    compare_runs,
    render_comparison,
)
from paprle_lab.evaluation.reporting.page import render_page

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def runs(make_episode):
    """Two runs; the second is later, and nearer its target."""
    (first,) = report.collect_entries([measure_source(make_episode(n=900))])
    second = copy.deepcopy(first) | {"episode": "second <b>", "lag_ms": 40.0}
    first["lag_ms"] = 10.0
    first["ate_mm"]["raw"]["median"], second["ate_mm"]["raw"]["median"] = 3.0, 1.0
    return [first, second]


@pytest.mark.parametrize(
    ("better", "values", "best"),
    [
        ("lower", (3.0, 1.0, 2.0), {1}),
        ("higher", (3.0, 1.0, 3.0), {0, 2}),
        ("lower", (None, 1.0), set()),
        ("lower", (None, 1.0, 2.0), {1}),
        ("higher", (5.0, 5.0), set()),
        ("lower", (0.44901, 0.44902), set()),
        ("lower", (0.44901, 0.44902, 0.6), {0, 1}),
        ("", (1.0, 2.0), set()),
    ],
)
def test_the_best_of_a_row_is_marked_if_there_is_a_difference(better, values, best):
    assert ComparedFigure("error", "mm", better, values).best == best


def test_each_row_marks_its_own_best(runs):
    rows = {row.name: row for row in compare_runs(runs)}

    assert rows["lag"].values == (10.0, 40.0)
    assert rows["lag"].best == {0}
    assert rows["error, median"].best == {1}
    assert rows["driven"].best == frozenset()


def test_page_and_terminal_begin_and_end_with_the_comparison(runs):
    html = render_page(runs, [[], []], "two runs")
    text = report.summary_text(runs)

    assert html.index("Side by side") < html.index("<section>")
    assert "second &lt;b&gt;" in html
    assert "second <b>" not in html
    head, *lines = text[text.index("side by side") :].splitlines()
    assert head.split()[-2:] == ["second", "<b>"]
    (lag,) = [line for line in lines if line.startswith("lag [ms]")]
    assert lag.split()[-2:] == ["10.0*", "40.0"]


def test_an_unreadable_episode_has_no_column(runs):
    broken = {"episode": "unreadable", "path": "x", "error": "no recording"}

    assert "1 more could not be read" in render_comparison([*runs, broken])
    assert "unreadable" not in compare_in_text([*runs, broken])


def test_one_run_is_not_compared(runs):
    assert render_comparison(runs[:1]) == compare_in_text(runs[:1]) == ""
