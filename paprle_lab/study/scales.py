"""Questionnaires and their scores.

* NASA-TLX, raw: the mean of six ratings of 0 … 100 in steps of 5; performance from
  perfect (0) to failure (100).
* SUS: ten statements, 1 … 5; 2.5 · (Σ odd − 5 + 25 − Σ even), 0 … 100.

References:
    Hart, Staveland, "Development of NASA-TLX", 1988; Hart, "NASA-Task Load Index; 20
    years later", 2006. Brooke, "SUS: a quick and dirty usability scale", 1996.
    Cronbach, "Coefficient alpha and the internal structure of tests", 1951.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Answers = Mapping[str, float | None]
"""By item; None where a participant would not answer."""


@dataclass(frozen=True, kw_only=True)
class Questionnaire:
    """Items with a common scale of answers."""

    name: str
    items: Mapping[str, str]
    low: float = 1.0
    high: float = 7.0
    step: float = 1.0
    ends: tuple[str, str] = ("strongly disagree", "strongly agree")
    reversed_items: frozenset[str] = frozenset()
    scales: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def accepts(self, value: float) -> bool:
        """Return whether a number is a valid answer."""
        if not (math.isfinite(value) and self.low <= value <= self.high):
            return False
        steps = (value - self.low) / self.step
        return abs(steps - round(steps)) < 1e-9

    def turn(self, item: str, value: float) -> float:
        """Return an answer, turned around for reversed items."""
        return self.low + self.high - value if item in self.reversed_items else value

    def score(self, answers: Answers) -> dict[str, float | None]:
        """Return the score of each scale; None if incomplete."""
        return {
            name: _average([self._count(item, answers.get(item)) for item in items])
            for name, items in self.scales.items()
        }

    def _count(self, item: str, value: float | None) -> float | None:
        return None if value is None else self.turn(item, value)


class Sus(Questionnaire):
    """The System Usability Scale."""

    def score(self, answers: Answers) -> dict[str, float | None]:
        """Return ``sus``, 0 … 100; None if incomplete."""
        counted = [self._count(item, answers.get(item)) for item in self.items]
        # before the mean: 2.5 times a whole number is exact, and stands so in tables
        points = [None if one is None else 25.0 * (one - self.low) for one in counted]
        return {"sus": _average(points)}


def _average(values: Sequence[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return sum(there) / len(there) if there and len(there) == len(values) else None


_TLX = {
    "mental": "Mental demand: how mentally demanding was the task?",
    "physical": "Physical demand: how physically demanding was the task?",
    "temporal": "Temporal demand: how hurried or rushed was the pace of the task?",
    "performance": "Performance: how successful were you in doing what you were asked "
    "to do? 0 is perfect, 100 is failure",
    "effort": "Effort: how hard did you have to work to reach your level of "
    "performance?",
    "frustration": "Frustration: how insecure, discouraged, irritated, stressed and "
    "annoyed were you?",
}
_SUS = (
    "I think that I would like to use this system frequently",
    "I found the system unnecessarily complex",
    "I thought the system was easy to use",
    "I think that I would need the support of a technical person to be able to use "
    "this system",
    "I found the various functions in this system were well integrated",
    "I thought there was too much inconsistency in this system",
    "I would imagine that most people would learn to use this system very quickly",
    "I found the system very cumbersome to use",
    "I felt very confident using the system",
    "I needed to learn a lot of things before I could get going with this system",
)
TLX = Questionnaire(
    name="tlx",
    items=_TLX,
    low=0.0,
    high=100.0,
    step=5.0,
    ends=("very low", "very high"),
    scales={"tlx": tuple(_TLX)},
)
SUS = Sus(
    name="sus",
    items={f"sus{k + 1}": text for k, text in enumerate(_SUS)},
    high=5.0,
    reversed_items=frozenset(f"sus{k}" for k in range(2, 11, 2)),
)
KNOWN: Mapping[str, Questionnaire] = {"tlx": TLX, "sus": SUS}


def compute_alpha(items: npt.ArrayLike) -> float:
    """Return Cronbach's α, k/(k−1)·(1 − Σσᵢ²/σ²), or NaN.

    ``items``: counted answers, shape (participants, k).
    """
    table = np.asarray(items, dtype=float)
    n, k = table.shape
    total = table.sum(axis=1).var(ddof=1) if n > 1 else 0.0
    if k < 2 or not total > 0.0:
        return float("nan")
    return float(k / (k - 1) * (1.0 - table.var(axis=0, ddof=1).sum() / total))
