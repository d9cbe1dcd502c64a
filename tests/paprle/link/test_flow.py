"""Records that must arrive, over a way that loses, doubles and reorders."""

from __future__ import annotations

import random

import pytest

from paprle.link.flow import Receiving, Sending
from paprle.link.rates import Leftover

MS = 1_000_000
TRIP_NS = 40 * MS


class Way:
    """Both ends, a way between them, and what came out."""

    def __init__(self, *, loss=0.0, doubled=0.0, jitter=0, seed=1, bound=1000):
        self.sending, self.receiving = Sending(bound), Receiving()
        self.leftover = Leftover()
        self.loss, self.doubled, self.jitter = loss, doubled, jitter
        self.random = random.Random(seed)
        self.under_way, self.got = [], []
        self.now_ns = 10**9

    def carry(self, where, payload):
        for _ in range(1 + (self.random.random() < self.doubled)):
            if self.random.random() >= self.loss:
                late = TRIP_NS // 2 + self.random.randint(0, self.jitter)
                self.under_way.append((self.now_ns + late, where, payload))

    def step(self, n=1):
        for _ in range(n):
            self.now_ns += MS
            self.leftover.see(0, self.now_ns)
            due = self.sending.list_due(self.leftover, TRIP_NS, self.now_ns)
            for payload in due:
                self.carry("down", payload)
            here = sorted(one for one in self.under_way if one[0] <= self.now_ns)
            self.under_way = [one for one in self.under_way if one[0] > self.now_ns]
            for _, where, payload in here:
                self.arrive(where, payload)
        return self

    def arrive(self, where, payload):
        if where == "up":
            assert self.sending.take_ack(payload, self.now_ns)
            return
        self.got += self.receiving.receive(payload)
        self.carry("up", self.receiving.make_ack())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "way",
    [{}, {"loss": 0.2}, {"doubled": 0.5}, {"jitter": 60 * MS}, {"loss": 0.5}],
    ids=["good", "lossy", "doubled", "reordered", "bad"],
)
def test_all_arrive_once_and_in_their_order(way, seed):
    both = Way(**way, seed=seed)
    sent = [b"%d" % k for k in range(100)]
    for payload in sent:
        both.sending.put(payload)
        both.step(10)
    both.step(8000 if both.loss == 0.5 else 3000)

    assert both.got == sent
    assert both.sending.is_empty
    assert not both.receiving.n_lost


def test_overflowing_messages_are_dropped_and_counted_on_both_sides():
    both = Way(bound=10)
    for k in range(50):
        both.sending.put(b"%d" % k)
    both.step(500)

    assert both.sending.n_given_up == both.receiving.n_lost == 40
    assert both.got == [b"%d" % k for k in range(40, 50)]


def test_an_acknowledgement_of_what_was_never_sent_is_refused():
    sending = Sending(10)
    sending.put(b"one")

    assert not sending.take_ack((5).to_bytes(8, "little"), 0)
    assert not sending.take_ack(b"short", 0)
    assert not sending.is_empty


def test_an_acknowledgement_of_the_past_changes_nothing():
    both = Way()
    both.sending.put(b"one")
    both.step(100)
    assert both.sending.take_ack((1).to_bytes(8, "little"), both.now_ns)
    assert both.sending.take_ack((-(2**62)).to_bytes(8, "little", signed=True), 0)

    assert both.sending.is_empty
    assert both.sending.n_last == 1


@pytest.mark.parametrize("payload", [b"", b"short", bytes(16), b"\xff" * 40])
def test_words_that_are_no_record_are_none(payload):
    receiving = Receiving()

    assert receiving.receive(payload) == []
    assert receiving.n_last == 0
