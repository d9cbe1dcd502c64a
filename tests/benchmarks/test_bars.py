"""Commands that judge what was promised fail when it is not kept."""

from __future__ import annotations

import numpy as np
import pytest
from shared_data import find_shared

from benchmarks import branches, phase, returns, smoothness


@pytest.mark.long
@pytest.mark.parametrize(("bar", "code"), [(returns.ON_POS, 0), (0.0, 1)])
def test_an_arm_that_does_not_come_back_fails(monkeypatch, bar, code):
    monkeypatch.setattr(returns, "ARMS", {"piper": returns.ARMS["piper, 5 joints"]})
    monkeypatch.setattr(returns, "ON_POS", bar)

    assert returns.main(["1"]) == code


@pytest.mark.parametrize(("chosen", "code"), [(1.0, 0), (0.996, 0), (0.99, 1)])
def test_a_posture_that_follows_less_than_the_best_fails(monkeypatch, chosen, code):
    monkeypatch.setattr(branches, "ROBOTS", ("piper",))
    found = branches.Judged(best=1.0, chosen=chosen, nearest=0.5, took=0.1)
    monkeypatch.setattr(branches, "judge", lambda *_: found)

    assert branches.main(["1"]) == code


@pytest.mark.parametrize(
    ("medians", "code"),
    [([1.4, 1.5, 1.6], 0), ([1.4, 1.4, 1.8], 1), ([2.1, 2.1, 2.2], 1)],
)
def test_starts_that_are_late_or_unlike_fail(monkeypatch, medians, code):
    starts = iter(medians)
    monkeypatch.setattr(phase, "measure", lambda _: (next(starts), 3.0, 0))

    assert phase.main([str(len(medians))]) == code


@pytest.mark.parametrize(
    ("ratio", "flips", "code"), [(1.5, 25.0, 0), (1.51, 20.0, 1), (1.2, 26.0, 1)]
)
def test_rough_commands_fail(monkeypatch, ratio, flips, code):
    played = []
    monkeypatch.setattr(smoothness, "play", lambda *words: played.append(words))
    monkeypatch.setattr(smoothness, "measure", lambda *_: (ratio, flips, 0.0))

    assert smoothness.main(["a.csv", "piper", "retarget.scale=0.4"]) == code
    assert [words[:3] for words in played] == [
        ("a.csv", "piper", rate) for rate in (200, 500, 1000)
    ]
    assert all(words[-1] == ["retarget.scale=0.4"] for words in played)


def test_a_shaking_command_is_rough_and_a_hands_motion_is_not():
    t = np.arange(0.0, 6.0, 0.002)
    hand = 0.3 * np.sin(2.0 * np.pi * t)[:, None]
    shaken = hand + 1e-5 * np.sin(2.0 * np.pi * 150.0 * t)[:, None]

    assert smoothness.measure_commands(hand, 0.002, np.array([20.0]))[0] < 1.01
    ratio, flips, _ = smoothness.measure_commands(shaken, 0.002, np.array([20.0]))
    assert ratio > smoothness.MOST_RATIO or flips > smoothness.MOST_FLIPS


@pytest.mark.nightly
@pytest.mark.long
@pytest.mark.sim
@pytest.mark.parametrize("rate", [200, 1000])
def test_a_trackers_commands_are_smooth_at_any_rate_of_the_gate(tmp_path, rate):
    path = find_shared("motion/tum_fr1_xyz.txt")

    episode = smoothness.play(str(path), "ur5e", rate, tmp_path, ["retarget.scale=0.4"])

    ratio, flips, _ = smoothness.measure(episode, 1.0 / rate)
    assert ratio <= smoothness.MOST_RATIO
    assert flips <= smoothness.MOST_FLIPS
