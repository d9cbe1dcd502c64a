"""Few, late, lost and reordered samples become a motion of continuous velocity."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cells import spread
from retargeting import load_robot

from paprle.contracts.kit.leader_group import merge_leaders
from paprle.contracts.kit.sampling import Sampling
from paprle.contracts.types import LeaderInfo
from paprle.ipc.records import SampleView, make_layout
from paprle.reconstruction.reconstruction import (
    Reconstruction,
    choose_policy,
    describe_delay,
)

TICK = 5_000_000  # [ns]
ROBOT = load_robot("piper").info
A_AT_HAND = 10.0 * 0.5  # [m/s²] of an arm with A = 10 rad/s² and its hand at 0.5 m


def slow(rate=30.0, **keys):
    return LeaderInfo(limbs=("hand",), rate=rate, has_gripper=True, **keys)


class Stream:
    """A hand that moves, and what arrives of it."""

    def __init__(self, rate=30.0, info=None, samples="auto"):
        self.info = info or slow(rate)
        layout = make_layout(ROBOT, self.info)
        self.view = SampleView(layout)
        self.made = Reconstruction(layout, samples)
        self.period = 1.0 / rate
        self.rng = np.random.default_rng(5)

    def p(self, t):
        """Where the hand is at a time [s]; it stands before 0.5 s."""
        t = np.maximum(np.asarray(t) - 0.5, 0.0)
        return np.stack(
            [0.1 * (1 - np.cos(4.0 * t)), 0.05 * np.sin(5.0 * t) ** 2, 0.05 * t], -1
        )

    def opening(self, t):
        """How far the gripper is open at a time [s]."""
        return 0.5 + 0.0 * t

    def arrivals(self, time, jitter=0.010, delay=0.02, lost=()):
        """Capture times, by arrival."""
        n = round(time / self.period)
        captured = [k * self.period for k in range(n) if k not in lost]
        late = delay + jitter * self.rng.uniform(-1, 1, len(captured))
        return sorted((c + d, c) for c, d in zip(captured, late, strict=True))

    def run(self, arrivals, time):
        """Return the positions tick by tick."""
        self.seq, k, moved, self.openings = 0, 0, [], []
        for now_ns in range(TICK, round(time * 1e9), TICK):
            while k < len(arrivals) and arrivals[k][0] * 1e9 <= now_ns:
                self.say(arrivals[k][1], now_ns)
                k += 1
            if not self.seq:
                continue
            view = self.made.follow(self.view, [self.seq], [True], now_ns)
            moved.append(view.pose[0].copy())
            self.openings.append(float(view.opening[0]))
        return np.array(moved)

    def say(self, captured, now_ns):
        self.seq += 1
        view, turn = self.view, 0.5 * captured
        if int(captured * 1e9) < int(view.limb_ns[0]):
            return  # one slot, the newest wins
        view.limb_ns[0] = view.stamp_ns = int(captured * 1e9)
        view.pose[0, :3] = self.p(captured)
        sign = 1 if self.seq % 2 else -1  # q and -q are the same turn
        view.pose[0, 3:] = sign * np.array([0, 0, math.sin(turn), math.cos(turn)])
        view.opening[0] = self.opening(captured)
        view.record["seq"], view.record["stamp_ns"] = self.seq, view.stamp_ns
        self.made.note(0, view.record, now_ns)


def find_delay(stream, moved, start=1.5):
    """Return by how much a motion is late, and what is left of it then."""
    t = TICK * 1e-9 * np.arange(len(moved)) + TICK * 1e-9
    t = t + 0.02 if moved[0, 0] == 0.0 else t
    inner = t > start
    errors = {
        d: np.abs(moved[inner, :3] - stream.p(t[inner] - d)).max()
        for d in np.arange(0.0, 0.12, 0.001)
    }
    return min(errors.items(), key=lambda item: item[1])


@pytest.mark.parametrize("rate", [30.0, 60.0, 72.0])
def test_a_motion_is_a_period_and_5_ms_late_and_smooth(rate):
    stream = Stream(rate)

    moved = stream.run(stream.arrivals(5.0), 5.0)

    h = TICK * 1e-9
    dq = np.diff(moved[:, :3], axis=0) / h
    ddq = np.diff(dq, axis=0) / h
    t = h * np.arange(300, len(moved) + 2)
    whole = np.diff(stream.p(t), 2, axis=0) / h**2
    assert np.sqrt((ddq[300:] ** 2).mean() / (whole**2).mean()) < 1.3
    late, left = find_delay(stream, moved)
    (delay,) = stream.made.delays
    assert delay.delay == pytest.approx(1 / rate + 0.005, rel=0.02)
    assert late - 0.02 <= delay.delay + 0.004
    assert left < 4e-3


def test_a_hand_at_rest_is_where_it_is():
    stream = Stream()
    stream.p = lambda t: np.array([0.1, 0.2, 0.3]) + 0.0 * np.asarray(t)[..., None]

    moved = stream.run(stream.arrivals(2.0), 2.0)

    np.testing.assert_allclose(moved[:, :3] - [0.1, 0.2, 0.3], 0.0, atol=1e-15)


def test_straight_motion_is_met_exactly():
    stream = Stream()
    stream.p = lambda t: np.array([0.1, 0.2, 0.3]) * np.asarray(t)[..., None]

    moved = stream.run(stream.arrivals(3.0), 3.0)

    v = np.diff(moved[300:, :3], axis=0) / (TICK * 1e-9)
    np.testing.assert_allclose(v, np.tile([0.1, 0.2, 0.3], (len(v), 1)), rtol=0.03)


def test_orientations_turn_the_short_way_and_keep_their_norm():
    stream = Stream()

    moved = stream.run(stream.arrivals(4.0), 4.0)

    np.testing.assert_allclose(np.linalg.norm(moved[:, 3:], axis=1), 1.0, atol=1e-12)
    angle = 2.0 * np.unwrap(np.arctan2(moved[:, 5], moved[:, 6]), period=math.pi)
    turned = np.diff(angle[300:]) / (TICK * 1e-9)
    assert np.all((turned > 0.9) & (turned < 1.1))


@pytest.mark.parametrize("n_lost", [1, 2, 3])
@pytest.mark.parametrize("rate", [30.0, 60.0, 72.0])
def test_lost_samples_neither_stop_nor_shake_it(rate, n_lost):
    """At four moments of a curve at up to 1 m/s², so that the hand turns in gaps."""
    h = TICK * 1e-9
    moved = []
    for first in range(round(2.0 * rate), round(2.0 * rate) + 20, 5):
        stream = Stream(rate)
        quick = stream.p
        stream.p = lambda t, p=quick: p(t) * [0.35, 0.35, 1.0]
        lost = set(range(first, first + n_lost))
        moved.append(stream.run(stream.arrivals(3.0, lost=lost), 3.0)[300:, :3])

    dq = np.diff(moved, axis=1) / h
    assert dq[..., 2].min() > 0.01, "it goes on: the hand rises by 0.05 m/s"
    step = np.linalg.norm(np.diff(dq, axis=1), axis=2).max()
    assert step < A_AT_HAND * h, "without a step"


@pytest.mark.parametrize("rate", [30.0, 60.0, 72.0])
@pytest.mark.parametrize("seed", spread(range(8), 0, 5))
def test_after_a_stall_it_catches_up_and_never_runs_ahead_of_the_hand(rate, seed):
    """Radios and browsers stall for up to 0.1 s, then all comes at once or is lost."""
    stream, rng = Stream(rate), np.random.default_rng(seed)
    captured = np.arange(int(8.0 * rate)) / rate
    captured += rng.uniform(0.0, 0.003, len(captured))
    arrived = captured + 0.002 + rng.exponential(0.003, len(captured))
    is_there, at = np.ones(len(captured), dtype=bool), 1.0
    while at < 8.0:
        stalled = (arrived > at) & (arrived < at + rng.uniform(0.02, 0.1))
        if rng.random() < 0.5:
            arrived[stalled] = arrived[stalled].max(initial=at)
        else:
            is_there &= ~stalled
        at += rng.exponential(0.5)
    pairs = zip(arrived[is_there], captured[is_there], strict=True)

    moved = stream.run(sorted((float(a), float(c)) for a, c in pairs), 8.0)

    t = TICK * 1e-9 * (np.arange(len(moved)) + 1)
    t += 8.0 - TICK * 1e-9 - t[-1]
    now = moved[t > 1.0, :3]
    lags = np.arange(0.0, 0.2, 0.005)
    near = [np.linalg.norm(now - stream.p(t[t > 1.0] - d), axis=1) for d in lags]
    assert np.min(near, axis=0).max() < 0.02, "it is beside where the hand was"


def test_a_stream_after_unusable_samples_begins_at_rest():
    stream = Stream()
    stream.run(stream.arrivals(2.0), 2.0)
    stream.made.follow(stream.view, [stream.seq], [False], 2_000_000_000)

    stream.view.pose[0, :3] += 0.4
    view = stream.made.follow(stream.view, [stream.seq], [True], 2_005_000_000)

    np.testing.assert_array_equal(view.pose[0], stream.view.pose[0] / 1.0)


def test_flags_and_counters_are_never_delayed():
    stream = Stream()
    stream.run(stream.arrivals(1.0), 1.0)
    stream.view.record["engaged"], stream.view.record["valid"] = False, True

    view = stream.made.follow(stream.view, [stream.seq], [True], 1_000_000_000)

    assert not view.engaged
    assert view.valid


def test_stamps_that_leap_move_nothing():
    stream = Stream()
    stream.p = lambda t: np.array([0.1, 0.2, 0.3]) + 0.0 * np.asarray(t)[..., None]
    arrivals = stream.arrivals(2.0)
    half = len(arrivals) // 2
    leapt = [
        (a, c + (3600.0 if i > half else 0.0)) for i, (a, c) in enumerate(arrivals)
    ]

    moved = stream.run(leapt, 2.0)

    assert np.ptp(moved[:, :3], axis=0).max() < 1e-12


class Closing(Stream):
    """A gripper that closes evenly once the hand moves, within 1.25 s."""

    SLOPE = -0.8  # [1/s]

    def opening(self, t):
        return float(np.clip(1.0 + self.SLOPE * (t - 0.5), 0.0, 1.0))


@pytest.mark.parametrize("lost", [(), (30,), (30, 40, 41)], ids=["none", "one", "two"])
def test_a_gripper_goes_on_by_its_slope_where_samples_are_missing(lost):
    stream = Closing()
    stream.run(stream.arrivals(3.0, lost=lost), 3.0)

    t = 3.0 - TICK * 1e-9 * np.arange(len(stream.openings), 0, -1)
    opening, step = np.array(stream.openings), stream.SLOPE * TICK * 1e-9
    closes = (t > 0.8) & (t < 1.6)
    steps = np.diff(opening)[closes[1:]]
    assert steps.max() < 0.5 * step, "it never stops nor opens"
    assert steps.min() > 1.5 * step, "it makes up for nothing by a leap"
    late = 0.02 + stream.made.delays[0].delay
    asked = np.array([stream.opening(at - late) for at in t])
    assert np.abs(opening - asked)[closes].max() < 0.015
    assert opening.min() >= 0.0
    assert opening[-1] == pytest.approx(0.0, abs=1e-3)


def test_numbers_that_are_missing_stay_missing_and_come_back():
    stream = Stream()
    arrivals = stream.arrivals(1.0)
    stream.run(arrivals, 1.0)
    stream.view.opening[0] = np.nan
    now_ns = 1_000_000_000

    def go(n):
        nonlocal now_ns
        for _ in range(n):
            now_ns += TICK
            if now_ns % 35_000_000 == 0:
                stream.seq += 1
                stream.view.limb_ns[0] += 35_000_000
            view = stream.made.follow(stream.view, [stream.seq], [True], now_ns)
        return view

    assert math.isnan(go(30).opening[0])
    assert np.isfinite(go(1).pose).all()
    stream.view.opening[0] = 0.25
    assert go(60).opening[0] == pytest.approx(0.25)


def test_only_the_slow_ones_of_a_group_are_reconstructed():
    group = merge_leaders({"pad": slow(200.0), "phone": slow(60.0)})

    made = Reconstruction(make_layout(ROBOT, group), "auto")

    assert [made.covers(p) for p in range(2)] == [False, True]
    assert describe_delay(made.delays[0]) == (
        "phone: 60 [Hz] made a motion of (latest samples), 22 ms late "
        "(retarget.samples)"
    )


@pytest.mark.parametrize(
    ("samples", "rate", "policy"),
    [
        ("auto", 200.0, None),
        ("auto", 72.0, "ordered"),
        ("off", 30.0, None),
        ("latest", 72.0, "latest"),
        ("ordered", 200.0, "ordered"),
    ],
)
def test_the_policy_of_reconstruction_follows_from_the_leader(samples, rate, policy):
    info = slow(rate, sampling=Sampling("ordered"))

    assert choose_policy(info, samples) == policy
