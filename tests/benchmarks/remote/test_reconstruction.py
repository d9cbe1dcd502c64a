"""What is left of a motion of which few samples come, by the measures of the benchmark.

Hands that people moved, thinned and ± 10 ms late, in whole sessions in virtual time.
"""

from __future__ import annotations

from functools import cache

import pytest
from shared_data import find_shared

from benchmarks.remote.reconstruction import (
    JITTER,
    LOSS,
    RATES,
    Stream,
    drive,
    find_delay,
    find_roughness,
    list_motions,
)

RECORDED = ("tum_fr1_xyz.txt", "arbot_rectangle_H1.csv", "avp_franka_ep0.npz")
OURS = "reach and stop"
SHAKEN = 1.3  # spec: rms acceleration, of that of the whole motion
LATE = 0.005  # [s] spec: more than a period
MOST = 1.0  # spec: step of velocity, in shares of A h
ITS_OWN = 1.7  # chosen: of a hand's own steps, where those alone are more than A h
SPOILED = {
    "5 % lost, latest": {"loss": LOSS},
    "5 % lost, ordered": {"loss": LOSS, "samples": "ordered"},
    "3 in a row": {"lost": 3},
}
DAILY = (OURS, 30)


@cache
def play(name):
    """Return a hand, its length [s], and how an arm moves with all of it."""
    folder = None if name == OURS else find_shared(f"motion/{name}").parent
    hand, length = list_motions(folder)[name]
    length = min(length, 8.0 if name == OURS else length)
    return hand, length, drive(hand, length, Stream())


CELLS = [
    pytest.param(
        name, rate,
        marks=pytest.mark.long if (name, rate) == DAILY else pytest.mark.nightly,
    )
    for name in (OURS, *RECORDED)
    for rate in RATES
]  # fmt: skip


@pytest.mark.parametrize(("name", "rate"), CELLS)
def test_few_samples_shake_the_arm_little_and_are_a_period_late(name, rate):
    hand, length, whole = play(name)

    run = drive(hand, length, Stream(rate, JITTER))

    assert run.n_let_go == 0
    assert find_roughness(run.q_cmd) <= SHAKEN * find_roughness(whole.q_cmd)
    late = find_delay(run.q_cmd, whole.q_cmd)
    assert late <= 1.0 / rate + LATE
    assert run.stated == pytest.approx(1.0 / rate + LATE, abs=1e-3)
    assert late == pytest.approx(run.stated, abs=5e-3), "within a tick"


@pytest.mark.parametrize(("name", "rate"), CELLS)
@pytest.mark.parametrize("way", SPOILED)
def test_lost_and_reordered_samples_neither_stop_nor_shake_the_arm(name, rate, way):
    hand, length, whole = play(name)

    run = drive(hand, length, Stream(rate, JITTER)._replace(**SPOILED[way]))

    assert run.n_let_go == 0
    assert run.step <= max(MOST, ITS_OWN * whole.step)
    assert find_delay(run.q_cmd, whole.q_cmd) <= run.stated + LATE


@pytest.mark.long
def test_the_measure_of_steps_sees_a_staircase():
    hand, length, _ = play(OURS)

    assert drive(hand, length, Stream(30, JITTER, samples="off")).step > 10.0 * MOST
