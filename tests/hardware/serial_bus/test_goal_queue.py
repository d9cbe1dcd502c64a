"""Goals between a gate and its bus: in order, each once, none from before a stall."""

from __future__ import annotations

import numpy as np
import pytest

from paprle.hardware.serial_bus import goal_queue
from paprle.hardware.serial_bus.goal_queue import GoalQueue, LateGoalsError

MS = 1_000_000


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    now = [0]
    monkeypatch.setattr(goal_queue, "read_boottime", lambda: now[0])
    return now


def take_all(queue):
    return [int(goal[0]) for goal in iter(queue.take, None)]


def post(queue, *values):
    for value in values:
        queue.post(np.array([float(value)]))


def test_goals_come_in_order_and_once():
    queue = GoalQueue(200.0)
    post(queue, 1, 2)

    assert take_all(queue) == [1, 2]
    assert queue.take() is None


def test_a_goal_from_before_a_stall_is_dropped_and_not_held(clock):
    queue = GoalQueue(200.0)
    post(queue, 1)
    queue.take()
    post(queue, 2)
    assert queue.held[0] == 2, "it will be sent"

    clock[0] = 21 * MS

    assert queue.held[0] == 1
    assert queue.take() is None
    post(queue, 1)
    assert take_all(queue) == [1], "the gate begins anew where the servos hold"


def test_a_gate_that_did_not_notice_a_stall_goes_on_without_a_jump(clock):
    queue = GoalQueue(200.0)
    post(queue, 1)
    queue.take()
    post(queue, 2, 3)

    clock[0] = 21 * MS

    assert queue.take() is None
    post(queue, 4)
    assert take_all(queue) == [2, 3, 4]


def test_goals_of_before_a_pause_of_the_gate_are_dropped_though_newer_ones_wait(clock):
    queue = GoalQueue(200.0)
    post(queue, 1, 2)
    clock[0] = 21 * MS
    post(queue, 3)
    clock[0] += 5 * MS
    post(queue, 4)

    assert take_all(queue) == [3, 4]


@pytest.mark.parametrize("n", [5, 10, 20])
def test_no_goal_is_skipped_where_the_bus_alone_stood_still(clock, n):
    queue = GoalQueue(200.0)
    for k in range(n):
        post(queue, k)
        clock[0] += 5 * MS

    assert take_all(queue) == list(range(n))


def test_goals_that_waited_for_long_are_not_caught_up_with(clock):
    queue = GoalQueue(200.0)
    for k in range(22):
        post(queue, k)
        clock[0] += 5 * MS

    with pytest.raises(LateGoalsError, match=r"waited for 110 \[ms\]"):
        queue.take()
    assert queue.take() is None
    assert queue.held is None


def test_a_slow_gate_has_longer_before_it_stands_still(clock):
    queue = GoalQueue(30.0)
    post(queue, 1)
    clock[0] = 100 * MS

    assert take_all(queue) == [1]


def test_a_cleared_queue_holds_nothing():
    queue = GoalQueue(200.0)
    post(queue, 1)
    queue.take()
    queue.clear()

    assert queue.held is None
    assert len(queue) == 0
