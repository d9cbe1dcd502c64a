"""Verdict on a run in three sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from paprle_lab.evaluation.reporting.reach_text import LONG_LAG, ON_TIME
from paprle_lab.evaluation.reporting.report_text import format_number

Json = dict[str, Any]
Grade = Literal["good", "fair", "bad", "unknown"]

_REACHED = 95.0  # [%] chosen: below it a data set would learn the misses
_HEADS: dict[Grade, str] = {
    "good": "This run was good",
    "fair": "This run is usable, with a reservation",
    "bad": "This run was not good",
    "unknown": "This run cannot be judged",
}


class RunVerdict(NamedTuple):
    """A grade, and sentences on course, limits and gaps."""

    grade: Grade
    sentences: tuple[str, ...]


def judge_run(entry: Json) -> RunVerdict:
    """Return the verdict on a report entry."""
    if entry["error"]:
        return RunVerdict("unknown", (f"{_HEADS['unknown']}: {entry['error']}.",))
    bad, fair = list(_list_failures(entry)), list(_list_reservations(entry))
    is_compared = entry["ate_mm"]["raw"]["median"] is not None
    grade: Grade = "bad" if bad else "fair" if fair else "good"
    if grade != "bad" and not is_compared:
        grade, fair = "unknown", ["the robot was never compared with a target"]
    reasons = bad or fair or [_describe_success(entry)]
    gaps = list(_list_gaps(entry))
    return RunVerdict(
        grade,
        (
            f"{_HEADS[grade]}: {'; '.join(reasons)}.",
            _describe_limits(entry["gate"]),
            f"Not judged: {'; '.join(gaps)}." if gaps else "Everything was judged.",
        ),
    )


def _list_failures(entry: Json) -> Iterator[str]:
    broken = [
        k for k, n in entry["gate"].get("violations_by_invariant", {}).items() if n
    ]
    if broken:
        yield f"commands broke {', '.join(broken)}"
    if not entry["is_complete"]:
        yield "its recording is not complete"
    if entry["is_discarded"]:
        yield "the operator discarded it"
    if entry["tracking"] and entry["tracking"]["did_not_follow"]:
        yield "the robot did not follow its commands"


def _list_reservations(entry: Json) -> Iterator[str]:
    reach = entry["reach"]
    if reach is not None and reach["reached_percent"] < _REACHED:
        yield f"the target was reached {reach['reached_percent']:.0f} % of the time"
    on_time = entry["tick"]["on_time_percent"]
    if on_time is not None and on_time < ON_TIME:
        yield f"{100.0 - on_time:.1f} % of the session's ticks were late"
    if entry["lag_ms"] is not None and entry["lag_ms"] > LONG_LAG:
        yield f"the robot was {entry['lag_ms']:.0f} ms behind its target"
    if str(entry["end_reason"]).startswith("stopped"):
        yield "a stop ended it"


def _describe_success(entry: Json) -> str:
    error = format_number(entry["ate_mm"]["raw"]["median"], "mm")
    if entry["reach"] is None:
        return f"the robot was within {error} of its target half of the time"
    reached = entry["reach"]["reached_percent"]
    return (
        f"the target was reached {reached:.0f} % of the time, {error} off in the median"
    )


def _describe_limits(gate: Json) -> str:
    if gate["violations"] is None:
        return "The commands were not judged against the limits."
    if gate["violations"]:
        return (
            "Do not run this robot on before the oracle's verdict below is understood."
        )
    if gate.get("min_clearance_mm") is None:
        return "Every command kept the limits of motion."
    nearest = format_number(gate["min_clearance_mm"], "mm")
    pair = " and ".join(gate["nearest_pair"])
    return f"Every command kept the limits of motion; {pair} came as near as {nearest}."


def _list_gaps(entry: Json) -> Iterator[str]:
    gate, captured = entry["gate"], entry["latency_ms"]["capture_to_command"]
    if gate["violations"] is None:
        yield "limits of motion and collisions (no commands are recorded)"
    elif gate.get("min_clearance_mm") is None:
        yield "collisions (no usable bodies in the recorded description)"
    if entry["reach"] is None:
        yield "whether targets were reached (their causes are not recorded)"
    if entry["tick"]["on_time_percent"] is None:
        yield "whether the session kept its deadlines (its ticks are not recorded)"
    if captured["p50"] is None:
        yield "latency from capture (captures and commands are not both recorded)"
    elif captured.get("is_from_arrival"):
        yield "the way from capture to arrival (no clock was exchanged with the sender)"
    if entry["ate_mm"]["raw"]["median"] is None:
        yield "errors and lag (robot and target were never compared)"
    elif entry["lag_ms"] is None:
        yield "lag (the motions do not correlate clearly)"
