"""The gate's stand-in and the host it speaks to, with a network in memory."""

from __future__ import annotations

import signal

import pytest
from lock_step import H_NS, PIPER

from paprle.config import resolve
from paprle.contracts.plugins import Link
from paprle.hosts.factories import RING_BYTES
from paprle.hosts.two_hosts import remote_gate, serve
from paprle.hosts.two_hosts.remote_gate import RemoteGate
from paprle.hosts.two_hosts.serve import FollowerHost
from paprle.ipc.mailbox import Mailbox, Ring
from paprle.ipc.process import Role
from paprle.ipc.records import make_gate_layout
from paprle.link.follower_end import FollowerEnd

WORDS = ("leader=autopilot", "follower=piper", "env=kinematic", "link.peer=there")


class Wire(Link):
    """One end of a network in memory."""

    def __init__(self):
        self.inbox, self.other = [], None

    def open(self):
        pass

    def send(self, data):
        self.other.inbox.append(data)
        return True

    def receive(self):
        data, self.inbox = self.inbox, []
        return data

    def close(self):
        pass


class Hosts:
    """Both hosts before a gate has begun, a step at a time."""

    def __init__(self, monkeypatch, keys):
        ends = [Wire(), Wire()]
        ends[0].other, ends[1].other = ends[1], ends[0]
        self.reports, self.lines, self.now_ns = [], [], 10**12
        monkeypatch.setattr(remote_gate, "make_link", lambda *_, **__: ends[0])
        monkeypatch.setattr(serve, "make_link", lambda *_, **__: ends[1])
        monkeypatch.setattr(serve, "print_line", self.lines.append)
        near, far = (resolve([*WORDS, f"link.key={key}"]) for key in keys)
        layout = make_gate_layout(PIPER.info)
        boxes = Mailbox(layout.setpoint), Mailbox(layout.status), Ring(RING_BYTES)
        names = ("setpoint", "status", "gate_ring")
        self._boxes = boxes
        fds = {name: box.fd for name, box in zip(names, boxes, strict=True)}
        take = lambda _, event, **said: self.reports.append((event, said))  # noqa: E731
        monkeypatch.setattr(Role, "report", take)
        self.gate = RemoteGate(Role(payload={"config": near.to_dict()}, fds=fds))
        self.host = FollowerHost(far)
        self.host._has_input = False
        self.is_served = True

    def step(self, seconds):
        for _ in range(round(seconds * 1e9 / H_NS)):
            self.now_ns += H_NS
            self.gate._step(self.now_ns)
            if self.is_served:
                self.host._step(self.now_ns)


@pytest.fixture
def make(monkeypatch, tmp_path):
    def make(*secrets):
        keys = []
        for i, secret in enumerate(secrets):
            keys.append(tmp_path / f"{i}.key")
            keys[-1].write_text(secret * 32)
            keys[-1].chmod(0o600)
        return Hosts(monkeypatch, keys)

    return make


def test_the_operator_is_told_once_that_nobody_answers(make):
    hosts = make("a", "a")
    hosts.is_served = False

    hosts.step(2.0)
    assert not hosts.reports
    hosts.step(6.0)

    [(event, said)] = hosts.reports
    assert event == "trouble"
    assert "no answer from there: is `paprle serve` running" in said["message"]


def test_both_sides_are_told_of_another_key_while_it_happens(make):
    hosts = make("a", "b")
    hosts.step(8.0)

    [(_, said)] = hosts.reports
    assert "is the key the same?" in said["message"]
    assert len(hosts.lines) == 2, "not once a datagram"
    assert hosts.lines[0] == "refused: wrong key 1; is the key the same on both hosts?"


def test_a_second_signal_gives_up_records_that_are_still_fetched(make, monkeypatch):
    hosts = make("a", "a")
    host, now_ns = hosts.host, hosts.now_ns
    monkeypatch.setattr(FollowerEnd, "is_drained", property(lambda _: False))
    host._ended_ns = now_ns
    host._take_signal(signal.SIGTERM, None)

    for _ in range(50):  # the other host asks for them all the time
        now_ns += 10**9
        host._end.heard_ns = now_ns
        host._step(now_ns)
    assert host._is_busy
    [told] = [line for line in hosts.lines if "ending" in line]
    assert "for 60 s at most; a second signal" in told

    host._take_signal(signal.SIGTERM, None)
    host._step(now_ns)
    assert not host._is_busy
    assert "given up" in " ".join(hosts.lines)
