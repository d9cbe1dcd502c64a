"""How much of a link anybody may use."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from paprle.link.rates import Allowance, Leftover

MS = 1_000_000
S = 1_000_000_000


def test_an_allowance_passes_its_rate_and_its_burst():
    allowance = Allowance(rate=100.0, burst=10.0)

    passed = sum(allowance.take(S + k * MS // 10) for k in range(20_000))  # 2 s

    assert 200 <= passed <= 211


def test_time_that_runs_back_earns_nothing():
    allowance = Allowance(rate=100.0, burst=1.0)

    assert allowance.take(10 * S)
    assert not allowance.take(5 * S)


class Narrow:
    """A link of so many bits a second, with a queue that drops what is beyond 200 ms.

    ``live`` a second cannot wait; ``kept`` a second can.
    """

    def __init__(self, bits, live=200, size=800, way=0.02):
        self.bits, self.size, self.way_ns = bits, size, int(way * S)
        self.live = live
        self.free_ns = 0
        self.delays, self.n_kept, self.n_lost, self.backlog = [], 0, 0, 0
        self.trips = deque()

    def put(self, now_ns):
        """Return how long a datagram that is sent now waits in the queue, [ns]."""
        begin = max(now_ns, self.free_ns)
        if begin - now_ns > 200 * MS:
            self.n_lost += 1
            return None
        self.free_ns = begin + int(self.size * 8 / self.bits * S)
        return self.free_ns - now_ns

    def run(self, seconds, leftover):
        for k in range(int(seconds * 1000)):
            now_ns = S + k * MS
            if k % (1000 // self.live) == 0:
                waits = self.put(now_ns)
                self.backlog += 1
                self.delays.append(np.inf if waits is None else waits)
                if waits is not None:
                    self.trips.append((now_ns + waits + 2 * self.way_ns, waits))
            while self.trips and self.trips[0][0] <= now_ns:
                leftover.see(self.trips.popleft()[1], now_ns)
            while self.backlog and leftover.take(now_ns):
                self.backlog -= 1
                self.n_kept += self.put(now_ns) is not None
        return self


@pytest.mark.parametrize("bits", [1.5e6, 2e6, 2.5e6])
def test_records_leave_control_the_way_where_a_link_is_too_narrow_for_both(bits):
    link = Narrow(bits).run(30.0, Leftover())

    room = 30.0 * (bits / 8 / link.size - link.live)
    assert np.percentile(link.delays[400:], 99) < 60 * MS
    assert not link.n_lost
    assert link.n_kept > 0.6 * min(room, 30.0 * link.live), "what is left is used"


def test_records_keep_up_where_there_is_room():
    link = Narrow(20e6).run(10.0, Leftover())

    assert link.backlog < 10
    assert np.percentile(link.delays, 99) < 20 * MS


def test_records_go_on_slowly_where_there_is_hardly_any_room():
    link = Narrow(1.3e6).run(10.0, Leftover())

    assert link.n_kept > 50
