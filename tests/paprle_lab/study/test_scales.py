"""Scores against published keys."""

from __future__ import annotations

import math

import numpy as np
import pytest

from paprle_lab.study.export import find_alpha
from paprle_lab.study.scales import KNOWN, SUS, TLX, Questionnaire, compute_alpha

BROOKE = (5, 4, 2, 1, 2, 3, 2, 4, 5, 2)  # Brooke 1996, the scored example: 22 · 2.5


def answer(asked, values):
    return dict(zip(asked.items, values, strict=True))


@pytest.mark.parametrize(
    ("values", "score"),
    [
        (BROOKE, 55.0),
        ((5, 1) * 5, 100.0),
        ((1, 5) * 5, 0.0),
        ((3,) * 10, 50.0),
        ((1,) * 10, 50.0),  # who agrees with nothing is no better than the middle
        ((4, 2, 4, 2, 4, 2, 4, 2, 4, 2), 75.0),
    ],
)
def test_sus_is_scored_by_the_key(values, score):
    assert SUS.score(answer(SUS, values)) == {"sus": pytest.approx(score)}


def test_sus_is_the_published_formula_for_any_answers():
    rng = np.random.default_rng(0)
    for values in rng.integers(1, 6, (200, 10)):
        odd, even = values[::2].sum(), values[1::2].sum()
        key = 2.5 * ((odd - 5) + (25 - even))

        assert SUS.score(answer(SUS, values))["sus"] == key


@pytest.mark.parametrize(
    ("values", "score"),
    [
        ((30, 15, 60, 40, 30, 40), 215 / 6),
        ((0,) * 6, 0.0),
        ((100,) * 6, 100.0),
        ((100, 0, 0, 0, 0, 0), 100 / 6),
    ],
)
def test_raw_tlx_is_the_mean_of_its_six_ratings(values, score):
    assert TLX.score(answer(TLX, values)) == {"tlx": pytest.approx(score)}


@pytest.mark.parametrize("asked", KNOWN.values(), ids=KNOWN)
def test_a_withheld_answer_leaves_no_score(asked):
    answers = dict.fromkeys(asked.items, asked.low)
    answers[next(iter(asked.items))] = None

    assert set(asked.score(answers).values()) == {None}


@pytest.mark.parametrize(
    ("asked", "value", "is_fine"),
    [
        (TLX, 0, True), (TLX, 55, True), (TLX, 100, True), (TLX, 52, False),
        (TLX, 105, False), (TLX, -5, False), (TLX, math.nan, False),
        (SUS, 1, True), (SUS, 5, True), (SUS, 0, False), (SUS, 2.5, False),
    ],
)  # fmt: skip
def test_an_answer_is_a_point_of_the_scale(asked, value, is_fine):
    assert asked.accepts(value) is is_fine


def test_a_reversed_item_counts_from_the_other_end():
    asked = Questionnaire(
        name="x", items={"a": "", "b": ""}, reversed_items=frozenset({"b"}),
        scales={"x": ("a", "b")},
    )  # fmt: skip

    assert asked.score({"a": 7.0, "b": 1.0}) == {"x": 7.0}


def test_alpha_of_parallel_items_follows_spearman_and_brown():
    rng = np.random.default_rng(1)
    truth = rng.normal(size=(200_000, 1))
    items = truth + rng.normal(size=(200_000, 3))
    r = 0.5  # of any two

    assert compute_alpha(items) == pytest.approx(3 * r / (1 + 2 * r), abs=0.01)


@pytest.mark.parametrize(
    ("items", "alpha"),
    [
        ([[1, 1, 1], [2, 2, 2], [5, 5, 5]], 1.0),
        ([[1, 2], [2, 1], [3, 3]], 2 * (1 - 2 / 3)),  # variances 1 and 1, of sums 3
        ([[1], [2]], math.nan),
        ([[3, 3], [3, 3]], math.nan),
    ],
)
def test_alpha_of_small_tables(items, alpha):
    assert compute_alpha(items) == pytest.approx(alpha, nan_ok=True)


@pytest.mark.parametrize(
    ("participants", "is_told"), [(["a"], False), (["a", "b"], True)]
)
def test_alpha_is_told_of_two_participants_or_more(participants, is_told):
    rng = np.random.default_rng(3)
    answers = [
        {
            "questionnaire": "sus",
            "participant": who,
            "condition": condition,
            "item": f"sus{item}",
            "counted": float(rng.integers(1, 6)),
        }
        for who in participants
        for condition in ("fast", "slow", "far")
        for item in (1, 2, 3)
    ]

    alpha = find_alpha(answers, SUS, ["sus1", "sus2", "sus3"])

    assert np.isfinite(alpha) is np.bool_(is_told)
