"""What datagrams tell of another host's clock, and what they do not."""

from __future__ import annotations

import numpy as np
import pytest

from paprle.ipc.peer_clock import PeerClock
from paprle.link.packets import DatagramKind, Packet

SKEW_NS = 5_000_000_000_000
H_NS = 5_000_000


class Peer:
    """Speaks every period over ways of a given length, and answers at once."""

    def __init__(self):
        self.clock = PeerClock()
        self.now_ns = 10**12
        self.way = 0.02

    def make(self, *, is_answer=True):
        way_ns = int(self.way * 1e9)
        echo_ns = self.now_ns - 2 * way_ns if is_answer else 0
        stamp_ns = self.now_ns - way_ns + SKEW_NS
        return Packet(DatagramKind.SETPOINT, 1, stamp_ns, echo_ns, 0, b"")

    def hear(self, n=1, *, is_answer=True):
        for _ in range(n):
            self.now_ns += H_NS
            packet = self.make(is_answer=is_answer)
            self.clock.take(packet, self.now_ns)
        return packet

    def compute_age(self, packet):
        return self.clock.compute_age(packet, packet.stamp_ns, self.now_ns)


@pytest.fixture
def peer():
    return Peer()


@pytest.mark.parametrize("way", [0.0, 0.02, 0.5, 0.999, 1.001, 2.5, 20.0])
def test_a_fresh_message_is_as_old_as_the_round_trip(peer, way):
    peer.way = way

    assert peer.compute_age(peer.hear(100)) == pytest.approx(2 * way * 1e9, abs=2)


def test_no_age_is_known_before_the_first_round_trip(peer):
    assert peer.compute_age(peer.hear(10, is_answer=False)) is None
    assert peer.compute_age(peer.hear()) == pytest.approx(40e6)


def test_a_time_after_a_slow_first_datagram_is_right_at_once(peer):
    peer.way = 0.1
    peer.hear()
    peer.way = 0.02
    peer.hear(20)

    then_ns = peer.now_ns - 50_000_000
    assert peer.clock.to_past(then_ns + SKEW_NS, peer.now_ns) == then_ns
    assert peer.clock.to_local(then_ns + SKEW_NS) > then_ns + 50_000_000, "follows"


@pytest.mark.parametrize("slow", [0.03, 0.2, 0.9])
def test_a_slow_first_datagram_is_forgotten_in_ten_seconds_without_a_leap(peer, slow):
    peer.way = slow
    peer.hear()
    peer.way = 0.02
    seen = []
    for _ in range(2000):
        peer.hear()
        seen.append(peer.clock.to_local(peer.now_ns + SKEW_NS))

    steps = np.diff(seen)
    assert abs(seen[-1] - peer.now_ns) < 0.01 * slow * 1e9, "recordings are off by it"
    assert steps.min() > 0.5 * H_NS, "it runs backwards, or stands"
    assert steps.max() < 1.01 * H_NS


@pytest.mark.parametrize("ahead", [0.0, 0.5, 1.1, 3600.0])
def test_nothing_that_was_told_is_later_than_now(peer, ahead):
    peer.hear(20)
    stamp_ns = peer.now_ns + SKEW_NS + int(ahead * 1e9)

    found = peer.clock.to_past(stamp_ns, peer.now_ns)

    assert found == (peer.now_ns if ahead < 1.0 else None)


@pytest.mark.parametrize("longer", [0.5, 1.5, 5.0])
def test_a_way_that_grows_makes_nothing_young(peer, longer):
    peer.hear(100)
    peer.way = longer

    first = peer.compute_age(peer.hear(is_answer=False))
    assert first is None or first >= 0.9 * longer * 1e9
    for _ in range(6000):  # until the quick times are forgotten
        age = peer.compute_age(peer.hear())
        assert age >= 0.9 * longer * 1e9


@pytest.mark.parametrize("jump", [-3600, -2, 2, 3600])
def test_a_round_trip_over_a_jump_of_its_clock_is_none(peer, jump):
    peer.hear(100)
    packet = peer.make()._replace(held_ns=jump * 10**9)

    peer.clock.take(packet._replace(stamp_ns=packet.stamp_ns + jump * 10**9), 0)

    assert not peer.clock.trip_ns
    assert peer.clock.n_jumps == 1
