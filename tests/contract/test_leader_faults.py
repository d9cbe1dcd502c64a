"""Faults 1 to 10 of each live leader (safety.md 4), by the suite that all share.

``spacemouse`` has its own in tests/leaders/spacemouse: the real hidapi needs a process.
``puppeteer`` has more rows of its own: tests/faults/test_puppeteer_matrix.py.
"""

from __future__ import annotations

import os

import emulated_hands
import pytest
from emulated_hands import (
    PADS,
    BareHand,
    KeyHand,
    PadHand,
    PuppeteerHand,
)
from hand_films import Stage
from leader_rows import Bench, link_hosts, open_page, publish, wear_headset
from streamed_hands import SocketPageHand

import paprle.leaders.hand_imu.leader
from paprle.testing import LeaderFaultsContract


class TestPhone(LeaderFaultsContract):
    words = ("leader=arpose",)

    def make_hand(self, leader, clock):
        return SocketPageHand(leader, clock)


@pytest.mark.nightly  # the phone's page is the same
class TestHeadset(LeaderFaultsContract):
    words = ("leader=webxr",)

    def make_hand(self, leader, clock):
        return SocketPageHand(leader, clock)


class TestGamepad(LeaderFaultsContract):
    words = ("leader=gamepad", "leader.pads.pad.device=Faulty pad")

    @pytest.fixture(autouse=True)
    def _plug(self):
        emulated_hands.plug_pad()
        yield
        PADS["Faulty pad"].unplug()

    def make_hand(self, leader, clock):
        return PadHand(leader, clock)


class TestKeyboard(LeaderFaultsContract):
    has_deadman = False
    has_rest = False

    @pytest.fixture(autouse=True)
    def _type(self):
        self.out, self.fd = os.pipe()
        self.words = ("leader=keyboard", f"leader.fd={self.out}")
        yield
        os.close(self.out)
        os.close(self.fd)

    def make_hand(self, leader, clock):
        return KeyHand(leader, clock, self.fd)


class TestHandImu(LeaderFaultsContract):
    words = ("leader=hand_imu", "leader.hold=1.0", "leader.gripper=pinch")
    silence = 0.3  # an image may be 0.2 s old, and five more are held through
    release = 0.4  # the other hand counts once it is seen for 0.3 s
    loses = 0.2  # what five images miss is held through
    is_gesture = True

    @pytest.fixture(autouse=True)
    def _show(self, monkeypatch):
        stage = lambda _, clock: Stage(clock)  # noqa: E731
        monkeypatch.setattr(paprle.leaders.hand_imu.leader, "Devices", stage)

    def make_hand(self, leader, clock):
        return BareHand(leader, clock)


@pytest.mark.nightly  # ten seconds each
class OnBench(LeaderFaultsContract):
    """A leader as the table of all leaders has it."""

    prepare = None

    @pytest.fixture(autouse=True)
    def _prepare(self, monkeypatch, tmp_path):
        self.bench = Bench(monkeypatch, tmp_path, "piper")

    @property
    def words(self):
        self.row = type(self).prepare(self.bench)
        return self.row.words

    def make_hand(self, leader, clock):
        return self.row.make_hand(leader, clock)


class TestVisionPro(OnBench):
    prepare = wear_headset
    loses = 0.11  # a stream without flags: a hand that is out of sight stands still
    tremor = 1e-3  # a hand that is tracked is never still: 0.01 mm, and its clutch


class TestRos(OnBench):
    prepare = publish


class TestWeb(OnBench):
    prepare = open_page
    has_own_words = True  # the page's button: "paused – let go, then hold again"


class TestRemote(OnBench):
    prepare = link_hosts
    returns = 5.5  # another operator may come when one has been silent for 5 s


@pytest.mark.nightly  # a minute; the matrix of its own is in every run
class TestPuppeteer(LeaderFaultsContract):
    words = ("leader=puppeteer_piper",)
    has_deadman = False  # a hand that lets go of an arm: tests/leaders/puppeteer
    aligns = True
    stops = 1.2  # its motions blend into one another within a second
    endures_garbage = True  # a third of the packets are damaged
    loses = 0.11  # a servo that does not answer is silent (A1), and a tick

    @pytest.fixture(autouse=True)
    def _serve(self, monkeypatch):
        emulated_hands.step_servos(monkeypatch, "puppeteer_piper")

    def make_hand(self, leader, clock):
        return PuppeteerHand(leader, clock)
