"""The One-Euro filter against its closed form, and in a session."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest
from lock_step import HUMAN, PIPER, LockStep

from paprle.contracts.settings.retarget import FilterSettings, RetargetSettings
from paprle.contracts.types import LeaderInfo, LeaderSample, LimbCommand
from paprle.ipc.records import SampleView, make_layout, pack_sample
from paprle.reconstruction.one_euro import OneEuro
from paprle.retargeting.retarget import Retargeting
from paprle.testing.robots import make_robot_info

T = 0.01  # [s]


class Hand:
    """Samples of a hand at 100 Hz, through the filter."""

    def __init__(self, **settings):
        info = LeaderInfo(limbs=("hand",), joint_names={}, is_human=True)
        self.layout = make_layout(make_robot_info(2), info)
        self.filter = OneEuro(self.layout, FilterSettings(**settings))
        self.view, self.n = SampleView(self.layout), 0

    def say(self, p, R=None, *, after=1):
        self.n += after
        pose = pin.SE3(np.eye(3) if R is None else R, np.asarray(p, dtype=float))
        command = LimbCommand(T_leader_base_leader_eef=pose)
        sample = LeaderSample(
            stamp_ns=int(self.n * T * 1e9), seq=self.n, limbs={"hand": command}
        )
        self.view.update(pack_sample(self.layout, sample))
        return self.filter.filter(self.view).pose[0].copy()


def test_a_step_from_rest_is_that_of_a_low_pass_of_its_least_cutoff():
    hand = Hand(min_cutoff=2.0, beta=0.0)
    hand.say([0.0, 0.0, 0.0])

    seen = [hand.say([0.01, 0.0, 0.0])[0] for _ in range(100)]

    share = 1.0 / (1.0 + 1.0 / (2.0 * math.pi * 2.0 * T))
    expected = 0.01 * (1.0 - (1.0 - share) ** np.arange(1, 101))
    np.testing.assert_allclose(seen, expected, rtol=1e-9)


@pytest.mark.long
def test_a_slow_hand_is_late_by_the_time_that_is_told_and_a_fast_one_by_less():
    def measure(speed, beta):
        hand = Hand(min_cutoff=2.0, beta=beta)
        p = [hand.say([speed * T * k, 0.0, 0.0])[0] for k in range(600)]
        return (speed * T * 599 - p[-1]) / speed

    assert measure(0.05, 0.0) == pytest.approx(1.0 / (2.0 * math.pi * 2.0), rel=1e-3)
    assert measure(0.5, 20.0) == pytest.approx(1.0 / (2.0 * math.pi * 12.0), rel=1e-3)


def test_jitter_of_a_hand_at_rest_is_smoothed_in_place_and_in_turn():
    rng = np.random.default_rng(3)
    hand = Hand(min_cutoff=1.0)
    raw = [
        (rng.normal(0, 1e-3, 3), pin.exp3(rng.normal(0, 5e-3, 3))) for _ in range(800)
    ]

    seen = np.array([hand.say(p, R) for p, R in raw])[200:]

    assert seen[:, :3].std(axis=0).max() < 0.35e-3
    turns = [pin.log3(pin.Quaternion(row[3:]).matrix()) for row in seen]
    assert np.array(turns).std(axis=0).max() < 1.8e-3
    np.testing.assert_allclose(np.linalg.norm(seen[:, 3:], axis=1), 1.0)


def test_a_turn_of_more_than_half_a_circle_goes_on_the_way_it_went():
    hand = Hand(min_cutoff=5.0)
    angles = np.arange(400) * 0.02
    seen = [hand.say(np.zeros(3), pin.exp3(np.array([0.0, 0.0, x]))) for x in angles]

    turned = [
        pin.log3(
            pin.Quaternion(a[3:]).matrix().T @ pin.Quaternion(b[3:]).matrix()
        )[2]
        for a, b in zip(seen, seen[1:], strict=False)
    ]  # fmt: skip
    assert min(turned) > 0.0
    assert sum(turned) == pytest.approx(angles[-1], abs=0.1)


def test_after_a_silence_and_anew_it_begins_where_the_hand_is():
    hand = Hand(min_cutoff=0.5, beta=0.0)
    hand.say([0.0, 0.0, 0.0])
    assert hand.say([0.02, 0.0, 0.0])[0] < 0.001
    assert hand.say([0.03, 0.0, 0.0], after=30)[0] == 0.03
    hand.filter.start()
    assert hand.say([0.05, 0.0, 0.0])[0] == 0.05


def test_a_sample_seen_twice_is_filtered_once():
    hand = Hand(min_cutoff=1.0)
    hand.say([0.0, 0.0, 0.0])
    first = hand.say([0.01, 0.0, 0.0])
    again = hand.filter.filter(hand.view).pose[0]
    np.testing.assert_array_equal(first, again)


@pytest.mark.long
def test_a_session_follows_the_filtered_hand_and_records_the_raw_one():
    def travel(settings):
        pair = PIPER, Retargeting(PIPER, HUMAN, settings)
        session = LockStep(HUMAN, pair=pair)
        session.engage()
        rng, at = np.random.default_rng(1), session.T_hand.translation.copy()
        q, raw = [], []
        for _ in range(200):
            session.T_hand.translation = at + rng.normal(0, 1e-3, 3)
            session.step()
            q.append(session.core.motion.q_des.copy())
            raw.append(session.core.motion.leaders.sample.pose[0, :3].copy())
        return np.array(q)[50:].std(axis=0).max(), np.array(raw).std(axis=0).max()

    rough, _ = travel(RetargetSettings())
    smooth, raw = travel(RetargetSettings(filter=FilterSettings(min_cutoff=1.0)))

    assert smooth < 0.4 * rough
    assert raw > 0.8e-3
