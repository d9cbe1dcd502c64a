"""Start and end by grip alone, on a clock of our own."""

import numpy as np
import pytest

from paprle.contracts.kit.gestures.signals import Hold, step_end, step_start

MS = 1_000_000
STEP = 5 * MS
OPEN, SHUT = (1.0, 1.0), (0.0, 0.1)
REST = (np.zeros(3), np.zeros(3))


def run_start(stages):
    """Run stages of (duration [ms], openings, arms or a function of time)."""
    hold, now_ns, started = Hold(), 0, []
    for duration, openings, arms in stages:
        for _ in range(duration * MS // STEP):
            where = arms(now_ns) if callable(arms) else arms
            hold, start = step_start(hold, openings, where, now_ns)
            if start:
                started.append(now_ns // MS)
            now_ns += STEP
    return started


def test_start_takes_three_seconds_of_holding():
    assert run_start([(100, OPEN, REST), (2995, SHUT, REST)]) == []
    assert run_start([(100, OPEN, REST), (3005, SHUT, REST)]) == [3100]


def test_start_needs_grippers_that_were_open_before():
    assert run_start([(9000, SHUT, REST)]) == []


@pytest.mark.parametrize("openings", [(0.0, 1.0), (0.0, 0.2), (0.0, 0.21)])
def test_start_needs_every_gripper(openings):
    assert run_start([(100, OPEN, REST), (9000, openings, REST)]) == []


def test_letting_go_starts_the_hold_over():
    stages = [(100, OPEN, REST), (2900, SHUT, REST), (50, OPEN, REST)]

    assert run_start([*stages, (2995, SHUT, REST)]) == []
    assert run_start([*stages, (3005, SHUT, REST)]) == [6050]


def test_movement_starts_the_hold_over():
    def moved(now_ns):
        return (np.full(3, 0.1 * (now_ns >= 2000 * MS)), np.zeros(3))

    started = run_start([(100, OPEN, REST), (6000, SHUT, moved)])

    assert started[0] == pytest.approx(5000, abs=15)


@pytest.mark.parametrize(("speed", "starts"), [(0.9, True), (1.1, False)])
def test_still_is_less_than_a_hundredth_of_a_radian_in_ten_milliseconds(speed, starts):
    def drifting(now_ns):
        return (np.array([speed * now_ns * 1e-9, 0.0, 0.0]), np.zeros(3))

    assert bool(run_start([(100, OPEN, REST), (3500, SHUT, drifting)])) == starts


def test_without_grippers_there_is_no_signal():
    assert run_start([(9000, (), REST)]) == []


def run_end(stages, box=0.2):
    hold, now_ns, ended = Hold(), 0, []
    for duration, openings, distances in stages:
        for _ in range(duration * MS // STEP):
            hold, end = step_end(hold, openings, distances, box, now_ns)
            if end:
                ended.append(now_ns // MS)
            now_ns += STEP
    return ended


def test_end_takes_three_seconds_in_the_box():
    near = (0.1, 0.19)

    assert run_end([(100, OPEN, near), (2995, SHUT, near)]) == []
    assert run_end([(100, OPEN, near), (3005, SHUT, near)]) == [3100]


def test_leaving_the_box_starts_the_hold_over():
    stages = [(100, OPEN, (0, 0)), (2000, SHUT, (0, 0)), (10, SHUT, (0, 0.3))]

    assert run_end([*stages, (3005, SHUT, (0, 0))]) == [5110]


def test_the_grip_that_started_does_not_end():
    assert run_end([(9000, SHUT, (0, 0))]) == []
