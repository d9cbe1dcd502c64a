"""The order of the operator's stages, on a virtual clock; and their processors."""

import os
import threading

import numpy as np
import pytest

from paprle.hosts.two_hosts.stage_scheduler import (
    ORDER_DTYPE,
    SPENT_DTYPE,
    Scheduler,
    Stage,
    StagePorts,
    pin,
    plan_order,
    share_processors,
)
from paprle.ipc.ports import LatestPort

MS = 1_000_000
HEARD = np.dtype([("number", "i8")])


class Host:
    """A loop that predicts in 2 ms and two observers that draw, on one clock.

    Attributes:
        begins: When each stage began, of each turn, [ms] of its period.
    """

    def __init__(self, draws=(4, 6), rate=100.0):
        self.now_ns, self.draws = 1_000 * MS, draws
        self.order = LatestPort(ORDER_DTYPE).open()
        self.spent = [LatestPort(SPENT_DTYPE).open() for _ in draws]
        self.heard = LatestPort(HEARD).open()
        self.scheduler = Scheduler(self.order, self.spent, 20 * MS, 5 * MS)
        self.turns = [
            Stage(
                StagePorts(self.order, box, self.heard),
                1 + k,
                rate,
                lambda: self.now_ns,
                self._sleep,
            )
            for k, box in enumerate(self.spent)
        ]
        self.n_between = 0

    @property
    def period(self):
        return self.scheduler.order.period_ns

    def _sleep(self, seconds):
        self.now_ns += max(1, round(1e9 * seconds))

    def predict(self, took=2):
        """Let the loop end its stages in the period that begins next."""
        self.now_ns += -self.now_ns % self.period + took * MS
        self.heard.write(np.zeros((), HEARD))
        self.scheduler.end_turn(self.now_ns)

    def draw(self, place):
        """Wait for an observer's turn, and return when it began in the period, [ms]."""
        while not self.turns[place].wait():
            self.n_between += 1
        began_ns = self.now_ns
        self.now_ns += self.draws[place] * MS
        self.turns[place].end()
        return began_ns

    def run(self, n):
        """Return when each stage began and ended last, since its period did, [ms]."""
        for _ in range(n):
            self.predict()
            begin_ns = self.now_ns // self.period * self.period
            begins = [(self.draw(k) - begin_ns) / MS for k in range(len(self.draws))]
        return begins


def test_stages_follow_one_another_within_a_period():
    first, second = Host().run(120)

    assert first == pytest.approx(2.0, abs=0.1)
    assert second == pytest.approx(6.0, abs=0.1)


def test_the_period_holds_all_stages_and_grows_where_they_take_longer():
    assert Host().scheduler.order.period_ns == 20 * MS
    host = Host(draws=(12, 9))

    host.run(120)

    assert host.period == 25 * MS
    stages = [(2 * MS, 3 * MS), (9 * MS, 12 * MS), (9 * MS, 9 * MS)]
    assert plan_order(stages, 20 * MS, 5 * MS) == (25 * MS, (0, 2 * MS, 11 * MS))


def test_an_observer_waits_for_a_loop_that_is_late_and_draws_what_is_new():
    host = Host(draws=(4,))
    host.run(120)
    host.now_ns += -host.now_ns % host.period + 4 * MS  # the loop is late

    def predict_late(seconds, sleep=host._sleep):
        sleep(seconds)
        if host.now_ns % host.period > 5 * MS and host.heard.count == before:
            host.heard.write(np.zeros((), HEARD))

    before = host.heard.count
    host.turns[0]._sleep = predict_late
    host.now_ns -= 3 * MS
    began_ns = host.draw(0)

    assert host.heard.count == before + 1
    assert 5.0 < began_ns % host.period / MS < 5.5


def test_a_dead_loop_delays_no_other():
    host = Host(draws=(4,))
    host.run(120)
    began_ns = [host.draw(0) for _ in range(3)]

    assert np.diff(began_ns) / MS == pytest.approx(20.0, abs=0.5)
    assert began_ns[-1] % host.period < 8 * MS


def test_input_at_a_page_is_passed_on_between_two_turns_too():
    host = Host(draws=(4,))
    host.run(120)
    for _ in range(60):
        host.draw(0)

    assert host.n_between == pytest.approx(60, abs=3), "100 times a second in all"


def test_the_loop_has_a_processor_of_its_own_where_there_are_two():
    assert share_processors({0, 1, 5}) == ({5}, {0, 1})
    assert share_processors({3}) == ({3}, {3})


def test_a_machine_that_refuses_is_told_and_goes_on(monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "sched_setaffinity", refuse)

    assert "not pinned" in pin(is_loop=True)


def test_a_thread_is_pinned_alone():
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor: there is nothing to choose")
    before, seen = os.sched_getaffinity(0), {}

    def run():
        seen["told"] = pin(is_loop=True)
        seen["own"] = os.sched_getaffinity(0)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()

    assert seen == {"told": "", "own": {max(before)}}
    assert os.sched_getaffinity(0) == before
