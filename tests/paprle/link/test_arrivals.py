"""Which datagrams are opened, and which greetings are answered, in a flood."""

from __future__ import annotations

import os

import pytest
from linked_step import KEY, TERMS, LinkedStep

from paprle.contracts.datagram import Datagram
from paprle.link.arrivals import _N_CALLERS, Callers, choose
from paprle.link.leader_end import LeaderEnd
from paprle.link.mirror import make_gate_cut

PEER, OTHER = ("10.0.0.1", 47100), ("10.0.0.1", 666)
MS = 1_000_000


FORGED = b"PL2\x06"


def send(n, address, head=FORGED):
    return [Datagram.make(head + os.urandom(100), address) for _ in range(n)]


@pytest.mark.parametrize("n", [65, 500, 5000])
def test_no_flood_of_others_drops_a_datagram_of_the_peer(n):
    ours, before, after = send(3, PEER), send(n, OTHER), send(n, OTHER)

    chosen = choose([ours[0], *before, ours[1], *after, ours[2]], PEER)

    assert [one for one in chosen if one in ours] == ours
    assert len(chosen) <= 64 + 3


@pytest.mark.parametrize(
    ("n", "head"), [(100, FORGED), (250, FORGED), (500, b""), (5000, b"")]
)
def test_a_flood_with_the_address_of_the_peer_drops_none_of_its_datagrams(n, head):
    ours, before, after = send(3, PEER), send(n, PEER, head), send(n // 9, OTHER)

    chosen = choose([*ours, *before, *after], PEER)

    assert [one for one in chosen if one in ours] == ours


class Besieged(LinkedStep):
    """Whose robot hears junk, as much as a fast network carries."""

    def __init__(self):
        super().__init__()
        deliver, self.junk = self.up.deliver, []
        self.up.deliver = lambda now_ns: [
            *(Datagram.make(one, PEER) for one in deliver(now_ns)),
            *self.junk,
        ]


# in a period of 5 ms: 28,000 and 100,000 a second
@pytest.mark.parametrize(
    ("n", "address", "head", "why"),
    [
        (140, OTHER, FORGED, "wrong key"),
        (140, PEER, FORGED, "wrong key"),
        (500, PEER, b"", "malformed"),
    ],
    ids=["other port", "forged address", "junk with the peer's address"],
)
def test_a_robot_follows_as_well_beside_a_flood(n, address, head, why):
    alone, beside = LinkedStep().engage(), Besieged().engage()
    beside.junk = send(n, address, head)

    for session in (alone, beside):
        session.move(100, speed=0.2)

    assert beside.far_state == "ENGAGED"
    assert beside.far.refused[why] > 5000
    assert beside.q_cmd == pytest.approx(alone.q_cmd, abs=1e-9)


def test_greetings_that_are_played_again_use_up_nobody_elses_answers():
    callers, old = Callers(), [os.urandom(16) for _ in range(20)]
    answered = []

    for k in range(1000):  # 10 s
        now_ns = (1 + k) * 10 * MS
        for nonce in old:
            callers.may_be_answered(nonce, OTHER, now_ns)
        if k % 20 == 0:
            answered.append(callers.may_be_answered(b"n" * 16, PEER, now_ns))

    assert all(answered)


def test_callers_are_remembered_in_bounded_memory():
    callers = Callers()
    for k in range(10 * _N_CALLERS):
        callers.may_be_answered(os.urandom(16), ("10.0.0.1", k), k * MS)

    assert len(callers._allowances) <= _N_CALLERS
    assert len(callers._answered) <= _N_CALLERS


def test_an_operator_meets_its_robot_beside_greetings_that_are_played_again():
    session = LinkedStep()
    cut = make_gate_cut(session.layout)
    heard = [LeaderEnd(KEY, cut, TERMS, is_recorded=False) for _ in range(8)]
    for other in heard:
        other.ask(10**9)
    replayed = [Datagram.make(other.outbox[0], OTHER) for other in heard]
    deliver = session.up.deliver
    session.up.deliver = lambda now_ns: [
        *replayed,
        *(Datagram.make(one, PEER) for one in deliver(now_ns)),
    ]

    session.step(200)

    assert session.far.is_open
    assert session.far._peer == PEER
