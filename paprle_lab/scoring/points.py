"""The score of an episode, 0 … 100, and its reasons."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from paprle_lab.scoring.faults import Fault
from paprle_lab.scoring.measures import Measures

FAULT = {
    # chosen: an episode with a fault is below any sound one
    "idle": 0.9,
    "duplicate": 0.6,
    "shift": 0.7,
    "camera": 0.6,
    "fps": 0.7,
    "arms": 0.8,
    "unit": 0.8,
    "jump": 0.5,
}
"""Share of the score that a fault takes."""

_FAILED = 0.6  # chosen: a failed episode is below a successful one with pauses
_TOLD = 0.02  # chosen: two points; smaller costs are no reason


class Rule(NamedTuple):
    """Cost of a measure: none up to ``good``, all of ``weight`` from ``bad`` on.

    Attributes:
        weight: Share of the score at most.
        words: Reason, with the value.
    """

    key: str
    unit: str
    good: float
    bad: float
    weight: float
    words: str

    def find_cost(self, value: float) -> float:
        """Return the share of the score that a value takes."""
        share = (value - self.good) / (self.bad - self.good)
        return self.weight * min(max(share, 0.0), 1.0)


RULES = (
    # chosen, all bounds and weights: good is usual in careful demonstrations, bad is
    # one that a person would record again
    Rule("dead", "share", 0.10, 0.70, 0.5, "{:.0%} of the time nothing moves"),
    Rule("detour", "×", 1.3, 3.0, 0.4, "{:.1f} times the usual path: detours"),
    Rule("jerk", "Hz", 2.0, 5.0, 0.4, "shakes like a sine of {:.1f} Hz: jerk"),
    Rule("clutches", "1/min", 3.0, 20.0, 0.2, "{:.0f} clutches a minute"),
    Rule("gate_held", "share", 0.05, 0.5, 0.3, "the gate held back {:.0%} of the time"),
    Rule("losses", "1/min", 0.5, 6.0, 0.3, "tracking was lost {:.1f} times a minute"),
    Rule("frozen", "share", 0.02, 0.5, 0.4, "{:.0%} of the images are frozen"),
    Rule("missing", "share", 0.02, 0.3, 0.4, "{:.0%} of the images are missing"),
)
"""Costs by measure."""


class Points(NamedTuple):
    """A score with its reasons, the most important first."""

    score: float
    reasons: tuple[str, ...]


def compute_points(measures: Measures, faults: Iterable[Fault]) -> Points:
    """Return the score: the product of what faults and known measures leave.

    An unknown measure costs nothing.
    """
    costs = [(FAULT[fault.kind], fault.text) for fault in faults]
    if measures.success is False:
        costs.append((_FAILED, "it failed"))
    for rule in RULES:
        value = getattr(measures, rule.key)
        if value is not None:
            costs.append((rule.find_cost(value), rule.words.format(value)))
    left = 1.0
    for cost, _ in costs:
        left *= 1.0 - cost
    costs.sort(key=lambda cost: -cost[0])
    return Points(100.0 * left, tuple(text for cost, text in costs if cost >= _TOLD))


def list_unknown(measures: Measures) -> list[str]:
    """Return the measures that are unknown."""
    return [key for key, value in measures.to_dict().items() if value is None]
