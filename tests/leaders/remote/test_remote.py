"""A leader on another host: contract, config, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from paprle.config import resolve
from paprle.contracts.errors import DeviceError
from paprle.contracts.settings.core import LinkSettings
from paprle.contracts.types import LeaderSample, LimbCommand
from paprle.hosts.roles import list_roles
from paprle.ipc.peer_clock import PeerClock
from paprle.leaders.remote.config import RemoteConfig
from paprle.leaders.remote.leader import RemoteLeader
from paprle.link.opening import LEADER, make_link
from paprle.link.quality import LinkQuality
from paprle.link.remote_leader.operator_side import OperatorSide
from paprle.testing import LeaderContract

DOMAIN = 77  # chosen: ports that no other test uses
WORDS = ("leader=remote", "follower=piper", "env=kinematic", "link.peer=127.0.0.1")


@pytest.fixture
def key(tmp_path):
    path = tmp_path / "link.key"
    path.write_text("0123456789abcdef\n")
    path.chmod(0o600)
    return str(path)


class TestRemote(LeaderContract):
    @pytest.fixture(autouse=True)
    def operator(self, key):
        """Run the operator's host beside it, over the loopback."""
        self.settings = LinkSettings(
            peer="127.0.0.1", key=key, type="udp", domain=DOMAIN
        )
        self.link = make_link(self.settings, LEADER, is_leader=True)
        self.link.open()
        yield
        self.link.close()

    def make_leader(self, clock):
        leader = RemoteLeader(RemoteConfig(link=self.settings), clock)
        self.side = OperatorSide(b"0123456789abcdef", leader.info, 3)
        self.seq = 0
        return leader

    def stimulate(self, leader, clock):
        del leader
        self.seq += 1
        T = pin.SE3(np.eye(3), np.array([1e-4, 0.0, 0.0]))
        command = LimbCommand(T_leader_base_leader_eef=T, opening=0.5)
        sample = LeaderSample(stamp_ns=clock(), seq=self.seq, limbs={"hand": command})
        self.side.step(self.link.receive(), sample, clock())
        for data in self.side.take_outbox():
            self.link.send(data)

    def unplug(self, leader):
        del leader


def test_the_link_of_a_leader_is_not_that_of_a_gate(key, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    resolved = resolve([*WORDS, "link.key=link.key"])

    assert resolved.leader.link == replace(resolved.link, key=key)
    gate = next(row for row in list_roles(resolved) if row.name == "gate")
    assert gate.module == "paprle.hosts.processes.gate"
    assert not resolved.is_gate_afar


@pytest.mark.parametrize(
    "change, why",
    [
        ({"link": LinkSettings()}, "link.peer: expected the address"),
        ({"emits": "joints"}, "leader.joints: expected names for hand, got none"),
    ],
)
def test_missing_settings_are_reported_before_anything_is_opened(key, change, why):
    settings = LinkSettings(peer="127.0.0.1", key=key)
    leader = RemoteLeader(RemoteConfig(**{"link": settings, **change}), lambda: 1)

    assert any(why in text for text in leader.preflight())
    with pytest.raises(DeviceError, match=why):
        leader.open()


class Heard:
    """A datagram's times."""

    def __init__(self, sent_ns, echo_ns):
        self.stamp_ns, self.echo_ns, self.held_ns = sent_ns, echo_ns, 0


def hear(trips, drift=0.0):
    """Return the quality of a link with these round trips, ten a second, [s]."""
    quality, clock, now = LinkQuality(), PeerClock(), 0
    for trip in trips:
        now += 100_000_000
        sent = round(now * (1.0 + drift)) - round(trip * 5e8)
        clock.take(Heard(sent + 10**12, now - round(trip * 1e9)), now)
        quality.look(clock, now)
    return quality


@pytest.mark.parametrize(
    "trips, silence, word",
    [
        ([], 0.0, "no answer"),
        ([0.02] * 9, 0.0, "good, 20 ms"),
        ([0.02] * 9, 0.3, "LOST: no state from the robot for 0.3 s: released"),
        ([0.2] * 9, 0.0, "SLOW"),
        ([0.05, 0.12] * 9, 0.0, "UNSTEADY"),
        ([0.5] * 9, 0.0, "BAD"),
    ],
)
def test_the_quality_of_a_link_is_said_in_words_with_what_to_do(trips, silence, word):
    assert hear(trips).describe(silence).startswith(word)


def test_offset_and_drift_of_the_other_clock_are_shown():
    quality = hear([0.02] * 3000, drift=50e-6)

    assert quality.offset == pytest.approx(1000.0, abs=0.05)
    assert quality.drift == pytest.approx(50.0, abs=10.0)
    assert "drifts +" in quality.describe_clock()
