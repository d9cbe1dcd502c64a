"""Both ends of a leader's link over UDP: only sealed datagrams say where answers go."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack

import pytest

from paprle.contracts.settings.core import LinkSettings
from paprle.contracts.types import LeaderInfo, LeaderSample, LimbCommand
from paprle.link.remote_leader.operator_side import OperatorSide
from paprle.link.remote_leader.robot_side import RobotSide
from paprle.links.udp.link import UdpLink, list_ports

KEY = b"a secret of thirty-two bytes ..."
HAND = LeaderInfo(limbs=("hand",), has_gripper=True, rate=100.0)
SETTINGS = LinkSettings(peer="127.0.0.1", domain=62)
PORTS = dict(
    zip(("operator", "robot"), list_ports(SETTINGS.domain, is_leader=True), strict=True)
)


class Pair:
    """An operator's end and a robot's, each with a socket, and somebody beside them."""

    def __init__(self, stack):
        self.near, self.far = OperatorSide(KEY, HAND, 0), RobotSide(KEY, HAND)
        self.links = [UdpLink(SETTINGS, "x", is_leader=lead) for lead in (True, False)]
        for link in self.links:
            link.open()
            stack.callback(link.close)
        self.stranger = stack.enter_context(
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        )
        self.stranger.bind(("127.0.0.1", 0))
        self.stranger.setblocking(False)
        self.sent = []

    def run(self, seconds, junk=(), every=0.02):
        """Exchange datagrams while the stranger repeats what it has."""
        near, far = self.links
        until, due = time.monotonic() + seconds, 0.0
        while (now := time.monotonic()) < until:
            if now >= due:
                due = now + every
                for data in junk:
                    for port in PORTS.values():
                        self.stranger.sendto(data, ("127.0.0.1", port))
            now_ns = time.monotonic_ns()
            sample = LeaderSample(
                stamp_ns=now_ns, seq=now_ns, limbs={"hand": LimbCommand(opening=0.5)}
            )
            self.near.step(near.receive(), sample, now_ns)
            for data in self.near.take_outbox():
                self.sent.append(bytes(data))
                near.send(data)
            self.far.step(far.receive(), now_ns)
            self.far.end.send("tick", b"words of the robot", now_ns)
            for data in self.far.take_outbox():
                far.send(data)
            time.sleep(0.001)

    @property
    def silence(self):
        """How long the robot's end has not heard of the leader, [s]."""
        return 1e-9 * (time.monotonic_ns() - self.far.guard.heard_ns)

    def steal(self):
        """What the robot or the operator sent to the stranger."""
        got = []
        try:
            while True:
                got.append(self.stranger.recv(65536))
        except BlockingIOError:
            return got


@pytest.fixture
def pair():
    with ExitStack() as stack:
        yield Pair(stack)


def test_ends_meet_beside_junk_of_another_port_of_the_same_host(pair):
    pair.run(0.05, junk=[b"junk", bytes(200)])
    pair.run(0.6, junk=[b"junk", bytes(200)])

    assert pair.far.end.is_open
    assert pair.silence < 0.1
    assert pair.steal() == []


def test_a_session_keeps_its_addresses_beside_junk_and_replays_after_a_gap(pair):
    pair.run(0.5)
    assert pair.far.end.is_open
    replayed = pair.sent[-3:]
    time.sleep(1.1)  # nobody speaks

    pair.stranger.sendto(replayed[0], ("127.0.0.1", PORTS["robot"]))
    pair.run(0.3, junk=[b"junk", *replayed], every=0.01)

    assert pair.silence < 0.1
    assert time.monotonic_ns() - pair.near.end.heard_ns < 0.3e9, "it is answered"
    assert pair.steal() == []


def test_a_peer_whose_router_gives_it_another_port_is_answered_there(pair):
    pair.run(0.5)
    robot = ("127.0.0.1", PORTS["robot"])
    moved = UdpLink(SETTINGS, "x", is_leader=True)
    moved._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    moved._socket.setblocking(False)
    moved._socket.bind(("127.0.0.1", 0))
    moved._peer = robot
    old, pair.links[0] = pair.links[0], moved
    old.close()

    pair.run(0.5)
    silence_ns = time.monotonic_ns() - pair.near.end.heard_ns
    moved.close()

    assert silence_ns < 0.1e9
