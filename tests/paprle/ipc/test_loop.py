from __future__ import annotations

import gc
import os
import threading

import pytest

from paprle.ipc.loop import (
    BESIDE_PRIORITY,
    DeadlineLoop,
    Pacer,
    Promoter,
    freeze_garbage,
    thaw_garbage,
)

MS = 1_000_000


class FakeTime:
    """A clock that moves by sleeping, and a little by being looked at."""

    def __init__(self):
        self.now = 0

    def __call__(self):
        self.now += 1000
        return self.now

    def sleep(self, seconds):
        self.now += int(seconds * 1e9)


def run(loop, clock, works):
    woke = []
    for work in works:
        loop.wait()
        woke.append(clock.now)
        clock.now += work
    return woke


def test_deadlines_do_not_drift():
    clock = FakeTime()
    loop = DeadlineLoop(1000.0, clock, clock.sleep)

    woke = run(loop, clock, [int(0.3 * MS)] * 50)

    assert abs(woke[-1] - 50 * MS) < 0.1 * MS
    assert loop.n_overruns == 0


def test_a_late_tick_is_counted_once_and_never_replayed():
    clock = FakeTime()
    loop = DeadlineLoop(1000.0, clock, clock.sleep)

    woke = run(loop, clock, [int(0.1 * MS)] * 5 + [int(7.3 * MS)] + [0] * 5)
    gaps = [b - a for a, b in zip(woke, woke[1:], strict=False)]

    assert loop.n_overruns == 1
    assert min(gaps) >= 0.8 * MS


def test_ticks_are_never_closer_than_the_spacing():
    clock = FakeTime()
    loop = DeadlineLoop(1000.0, clock, clock.sleep)

    woke = run(loop, clock, [int(1.05 * MS), 0] * 30)
    gaps = [b - a for a, b in zip(woke, woke[1:], strict=False)]

    assert min(gaps) >= 0.8 * MS


def test_loops_in_phase_wake_by_their_turn_before_multiples_of_the_period():
    clock = FakeTime()
    clock.now = 123 * MS + 456_789

    woke = run(DeadlineLoop(1000.0, clock, clock.sleep, turn=0.0003), clock, [0] * 30)

    assert max((t + 300_000) % MS for t in woke) < 0.05 * MS


def test_a_loop_that_was_late_comes_back_into_phase_bit_by_bit():
    clock = FakeTime()
    loop = DeadlineLoop(1000.0, clock, clock.sleep, turn=0.0)

    woke = run(loop, clock, [0] * 5 + [int(3.4 * MS)] + [0] * 40)
    gaps = [b - a for a, b in zip(woke[7:], woke[8:], strict=False)]

    assert 0.3 * MS < woke[6] % MS < 0.5 * MS, "it was late"
    assert woke[-1] % MS < 0.05 * MS
    assert min(gaps) > 0.97 * MS
    assert max(gaps) < 1.03 * MS


def settle(*spent_ns, n=20_000):
    """Where in its period a loop ends up waking whose turns take that long, [ns].

    The last time is that of all the turns that follow.
    """
    spent_ns = [*spent_ns, *[spent_ns[-1]] * (n - len(spent_ns))]
    clock = FakeTime()
    loop = DeadlineLoop(200.0, clock, clock.sleep, turn=0.0008)
    for spent in spent_ns:
        loop.wait()
        loop.give_time(spent)
    loop.wait()
    return 5 * MS - clock.now % (5 * MS)


def test_a_loop_wakes_as_early_as_its_turns_take():
    assert 0.58 * MS < settle(550_000) < 0.65 * MS
    assert 0.98 * MS < settle(950_000) < 1.05 * MS


def test_short_turns_all_end_in_the_same_phase():
    assert abs(settle(100_000) - 0.5 * MS) < 0.01 * MS
    assert abs(settle(400_000) - 0.5 * MS) < 0.01 * MS


def test_a_slow_start_is_forgotten_within_two_seconds():
    slow = [1_200_000] * 100
    assert settle(*slow, 400_000, n=300) > 1.2 * MS
    assert abs(settle(*slow, 400_000, n=600) - 0.5 * MS) < 0.01 * MS


def test_one_slow_turn_in_a_hundred_moves_nothing():
    turns = [300_000 + 1_000_000 * (k % 120 == 7) for k in range(2000)]
    assert abs(settle(*turns, n=2000) - 0.5 * MS) < 0.01 * MS


def test_turns_that_take_for_ever_do_not_turn_the_loop_around():
    assert settle(40 * MS) < 1.3 * MS
    assert settle(0) > 0.15 * MS


def test_a_loop_comes_into_phase_with_the_one_it_works_for():
    clock = FakeTime()
    loop = DeadlineLoop(200.0, clock, clock.sleep, turn=0.0003)
    began_ns = 77_000_000_000 + 3_100_000

    for k in range(2000):
        loop.wait()
        loop.work_for(began_ns + k * 5 * MS + (-1) ** k * 50_000)

    assert abs(clock.now % (5 * MS) - 2_800_000) < 30_000


def test_lateness_is_reported():
    clock = FakeTime()
    loop = DeadlineLoop(1000.0, clock, clock.sleep)
    loop.wait()

    clock.now += 5 * MS

    assert loop.wait() > 3 * MS


def test_commands_sent_late_in_a_tick_are_spaced_too():
    clock = FakeTime()
    loop = DeadlineLoop(1000.0, clock, clock.sleep)
    pacer = Pacer(1000.0, clock, clock.sleep)
    sent = []
    for work in [int(0.7 * MS), 1000] * 20:
        loop.wait()
        clock.now += work
        pacer.wait()
        sent.append(pacer.sent_ns)
    gaps = [b - a for a, b in zip(sent, sent[1:], strict=False)]

    assert min(gaps) >= 0.8 * MS
    assert loop.n_overruns == 0


@pytest.mark.long
def test_the_collector_is_off_while_the_loop_runs_and_on_after_it():
    freeze_garbage()
    was_on, n_frozen = gc.isenabled(), gc.get_freeze_count()
    thaw_garbage()

    assert not was_on
    assert n_frozen > 1000
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


def test_threads_beside_a_loop_come_after_it_and_before_other_processes(monkeypatch):
    asked = {}

    def schedule(tid, policy, param):
        asked[tid] = policy & os.SCHED_FIFO, param.sched_priority

    monkeypatch.setattr(os, "sched_setscheduler", schedule)
    must_end = threading.Event()
    beside = threading.Thread(target=must_end.wait)
    beside.start()

    Promoter(BESIDE_PRIORITY).look()
    must_end.set()
    beside.join()

    assert asked[beside.native_id] == (os.SCHED_FIFO, BESIDE_PRIORITY)
    assert asked[threading.get_native_id()] > asked[beside.native_id]


def test_threads_of_a_middleware_are_as_punctual_as_the_loop(monkeypatch):
    asked = []
    monkeypatch.setattr(os, "sched_setscheduler", lambda tid, *_: asked.append(tid))
    promoter, must_end = Promoter(), threading.Event()
    early, late = (threading.Thread(target=must_end.wait) for _ in range(2))
    early.start()

    promoter.look()
    assert {threading.get_native_id(), early.native_id} <= set(asked)
    asked.clear()
    late.start()
    for _ in range(300):
        promoter.look()

    assert early.native_id not in asked
    assert asked.count(late.native_id) == 1
    must_end.set()
    early.join()
    late.join()
