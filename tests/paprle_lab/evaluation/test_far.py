"""What a report says of a robot that was led from far away."""

from __future__ import annotations

import pytest

from paprle_lab.evaluation.episode import make_blank
from paprle_lab.evaluation.far import FarErrors, describe_far
from paprle_lab.evaluation.reporting.page import render_page
from paprle_lab.evaluation.reporting.report_text import summarise_entry

STREAMS = {
    "captures": {"sent": 200, "lost": 3},
    "robot's words": {"sent": 9, "lost": 0},
}


def tell(rows, k=100, **rest):
    """The k-th event of an episode, whose session had counted before it."""
    captures = {"sent": 5000 + 2 * k, "lost": 70 + 3 * (k > 50)}
    words = {"sent": 900 + 9 * (k > 50), "lost": 5}
    streams = {"captures": captures, "robot's words": words}
    missing = 30 + 4 * (k > 50)
    told = {"event": "far", "rows": rows, "missing": missing, "streams": streams}
    return told | rest


@pytest.fixture
def far():
    errors = FarErrors()
    errors.take(tell([], 0))
    for k in range(1, 101):
        row = [k, 0, k, 2 * k, k, None, k - 1, 100 + k, 3 * k, 0 if k > 60 else 2 * k]
        errors.take(tell([row], k))
    return errors.measure()


def test_errors_latency_and_losses_of_an_episode(far):
    errors = far["errors_mm"]

    assert (far["n"], far["missing"]) == (100, 4)
    assert errors["hand_to_robot"] == pytest.approx({"p50": 50.5, "p95": 95.05})
    assert errors["hand_to_confirmed_picture"]["p50"] == 101
    assert errors["hand_to_predicted_picture"] == {"p50": None, "p95": None}
    assert errors["hand_to_picture_by_velocity"]["p50"] == pytest.approx(151.5)
    assert far["predicted_is_nearer_percent"] == {"hold": 100.0, "velocity": 60.0}
    assert far["motion_to_motion_ms"] == pytest.approx({"p50": 150.5, "p99": 199.01})
    assert far["streams"] == STREAMS


def test_terminal_and_page_say_it(far, tmp_path):
    entry = make_blank(tmp_path / "episode.mcap") | {"far": far, "limbs": {}}
    entry["ate_mm"]["lag_compensated"]["tau_ms"] = None
    entry["orientation_deg"] = {"raw": {}}
    entry["tick"] = dict.fromkeys(entry["tick"])

    said = "\n".join(describe_far(far))

    assert "hand to robot p50 50, p95 95 mm" in said
    assert "hand to predicted picture" not in said  # nothing was
    assert "motion to motion p50 150, p99 199 ms" in said
    assert "captures 3 of 200" in said
    assert "far away     hand to robot p50" in summarise_entry(entry)
    page = render_page([entry], [()], "title")
    assert "Over the link" in page
    assert "100 instants; of 4 more" in page


def test_rows_of_recordings_without_a_picture_by_velocity_are_read():
    errors = FarErrors()
    errors.take(tell([[1, 0, 5.0, 7.0, 2.0, 6.0, 1.0, 150.0]]))

    far = errors.measure()

    assert far["n"] == 1
    assert far["errors_mm"]["picture_by_velocity_to_robot"]["p50"] is None
    assert far["predicted_is_nearer_percent"] == {"hold": 100.0, "velocity": None}


def test_a_leader_of_this_host_has_none():
    errors = FarErrors()
    errors.take({"event": "posture", "rows": [[1] * 8]})

    assert errors.measure() is None


def test_a_host_that_began_to_count_anew_is_counted_from_there():
    errors = FarErrors()
    errors.take(tell([], 0))
    errors.take(tell([], streams=STREAMS))

    assert errors.measure()["streams"]["captures"] == STREAMS["captures"]


@pytest.mark.parametrize(
    "rows",
    [None, 5, [None], [[1, 2]], [["a"] * 8], [[10**400] * 8], [[1, 0, True] * 3]],
    ids=str,
)
def test_invalid_rows_are_left_out(rows):
    errors = FarErrors()

    errors.take(tell(rows, missing="many", streams={"captures": 7, "words": {}}))

    far = errors.measure()
    assert (far["n"], far["missing"]) == (0, 0)
    assert far["streams"] == {"words": {"sent": 0, "lost": 0}}
    assert describe_far(far) == ["motion to motion not measured", "lost: words 0 of 0"]
