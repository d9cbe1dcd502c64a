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
    PageHand,
    PuppeteerHand,
)
from hand_films import Stage

import leaders.hand_imu.leader
from paprle.testing import LeaderFaultsContract


class TestPhone(LeaderFaultsContract):
    words = ("leader=arpose",)

    def make_hand(self, leader, clock):
        return PageHand(leader, clock)


class TestHeadset(LeaderFaultsContract):
    words = ("leader=webxr",)

    def make_hand(self, leader, clock):
        return PageHand(leader, clock)


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
    words = ("leader=hand_imu", "leader.hold=1.0")
    silence = 0.3  # an image may be 0.2 s old, and five more are held through
    release = 0.4  # the other hand counts once it is seen for 0.3 s

    @pytest.fixture(autouse=True)
    def _show(self, monkeypatch):
        stage = lambda _, clock: Stage(clock)  # noqa: E731
        monkeypatch.setattr(leaders.hand_imu.leader, "Devices", stage)

    def make_hand(self, leader, clock):
        return BareHand(leader, clock)


@pytest.mark.nightly  # a minute; the matrix of its own is in every run
class TestPuppeteer(LeaderFaultsContract):
    words = ("leader=puppeteer_piper",)
    has_deadman = False  # a hand that lets go of an arm: tests/leaders/puppeteer
    aligns = True
    stops = 1.2  # its motions blend into one another within a second

    @pytest.fixture(autouse=True)
    def _serve(self, monkeypatch):
        emulated_hands.step_servos(monkeypatch, "puppeteer_piper")

    def make_hand(self, leader, clock):
        return PuppeteerHand(leader, clock)
