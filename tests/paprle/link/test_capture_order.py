"""Whatever a network does to captures: each counts once, in bounded memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paprle.contracts.types import LeaderInfo, LeaderSample, LimbCommand
from paprle.ipc.records import SampleView, make_layout, pack_sample
from paprle.link.remote_leader.capture_guard import _WAITING, OLDEST_NS
from paprle.link.remote_leader.operator_side import OperatorSide
from paprle.link.remote_leader.robot_side import RobotSide, make_far_info
from paprle.reconstruction.reconstruction import Reconstruction
from paprle.robot.empty_robot import NOBODY

KEY = b"a secret of thirty-two bytes ..."
HAND = make_far_info(LeaderInfo(limbs=("hand",), is_human=False, has_gripper=True))
MS = 1_000_000  # [ns]
N = 30  # captures
PERIOD = 10 * MS
SKEW = 5 * 10**12  # [ns] between the clocks


def make_sample(k, now_ns, x=None, **levels):
    p = np.array([1e-3 * k if x is None else x, 0.0, 0.0])
    command = LimbCommand(T_leader_base_leader_eef=pin.SE3(np.eye(3), p), opening=0.5)
    made = LeaderSample(stamp_ns=now_ns, seq=k, limbs={"hand": command})
    return replace(made, **levels)


class Pair:
    """Both hosts, met, with a network that a test is."""

    def __init__(self, repeats=3):
        self.near, self.far = OperatorSide(KEY, HAND, repeats), RobotSide(KEY, HAND)
        self.now = 10**9
        for _ in range(6):
            self.pass_time(250 * MS)
            self.far.step(self.say(None), self.now)
            self.near.step(self.far.take_outbox(), None, self.now + SKEW)
        assert self.near.end.heard_ns
        # the way back is whole throughout
        self.near.watch.fresh_ns, self.far.end.is_unheard = 2**62, lambda _: False

    def pass_time(self, ns):
        self.now += ns

    def say(self, sample):
        self.near.step([], sample, self.now + SKEW)
        return self.near.take_outbox()

    def capture(self, n=N, **levels):
        """Return the datagrams of some captures."""
        data = []
        for k in range(1, n + 1):
            self.pass_time(PERIOD)
            data += self.say(make_sample(k, self.now + SKEW, **levels))
        return data

    def hear(self, *data):
        """Return the captures that count of datagrams that arrive at once."""
        self.pass_time(5 * MS)
        found = [self.far.step(list(data), self.now)]
        while (sample := self.far.guard.pop()) is not None:
            found.append(sample)
        return [sample for sample in found if sample is not None]


def find_k(sample):
    pose = sample.limbs["hand"].T_leader_base_leader_eef
    return round(1e3 * pose.translation[0])


@pytest.mark.long
@given(st.lists(st.integers(0, N - 1), max_size=3 * N))
@settings(max_examples=40, deadline=None)
def test_any_permutation_doubling_and_loss_gives_each_capture_once(order):
    pair = Pair()
    data = pair.capture()

    taken = {}
    for i in order:
        for sample in pair.hear(data[i]):
            assert taken.setdefault(sample.seq, sample) is sample

    numbers = [find_k(sample) for sample in taken.values()]
    assert len(numbers) == len(set(numbers))
    assert list(taken) == sorted(taken)
    came = {k for i in order for k in range(max(1, i - 2), i + 2)}
    assert set(numbers) <= came
    assert max(numbers, default=0) == max(came, default=0)


def test_all_at_once_is_bounded_and_counted():
    pair = Pair()
    data = pair.capture()

    pair.far.step(data, pair.now)

    assert len(pair.far.guard._waiting) <= _WAITING
    assert pair.far.end.refused["more than a motion can use"] == N - _WAITING
    pair.far.step(data, pair.now)
    assert pair.far.end.refused["old or doubled"] == N


def test_a_late_capture_has_the_levels_of_the_newest():
    pair = Pair(repeats=0)
    pair.hear(*pair.capture(1))
    pair.pass_time(PERIOD)
    [first] = pair.say(make_sample(2, pair.now + SKEW, engaged=True))
    pair.pass_time(PERIOD)
    [second] = pair.say(make_sample(3, pair.now + SKEW, engaged=False))

    newest, *_ = pair.hear(second)
    *_, late = pair.hear(first)

    assert find_k(late) == 2
    assert not newest.engaged
    assert not late.engaged, "a dead-man that was let go stays so"


def test_losses_are_those_that_never_came():
    pair = Pair(repeats=0)

    for k in range(1, 201):
        pair.pass_time(PERIOD)
        data = pair.say(make_sample(k, pair.now + SKEW))
        if k % 4:
            pair.hear(*data)

    known = 200 - 64  # those that may not come any more
    assert abs(pair.far.guard.n_lost - known / 4) <= 2


@given(st.lists(st.integers(-(2**62), 2**62), min_size=5, max_size=30))
@settings(max_examples=30, deadline=None)
def test_stamps_that_lie_make_nothing_young_and_nothing_infinite(stamps):
    pair = Pair()
    layout = make_layout(NOBODY, HAND)
    motion, view = Reconstruction(layout, "ordered"), SampleView(layout)
    for k, stamp in enumerate(stamps, 1):
        pair.pass_time(PERIOD)
        data = pair.say(make_sample(k, stamp, x=float(k % 2)))
        sample = pair.far.step(data, pair.now)
        if sample is None:
            continue
        assert pair.now - OLDEST_NS <= sample.stamp_ns <= pair.now
        record = pack_sample(layout, sample, pair.now)
        motion.note(0, record, pair.now)
        view.update(record)
        moved = motion.follow(view, [sample.seq], [True], pair.now)
        assert np.isfinite(moved.pose).all()
        assert 0.0 <= moved.opening[0] <= 1.0
    for one in motion._motions.values():
        assert len(one._path._past) < 200
        assert len(one._path.waypoints.waiting) <= 64


def follow(arrivals, *, is_made=True):
    """Return where a motion of captures at 1, 2, … periods goes, tick by tick.

    Args:
        arrivals: Which captures arrive in each period, a tuple each.
        is_made: It is reconstructed; else the newest arrival is obeyed.
    """
    layout = make_layout(NOBODY, HAND)
    motion, view, rows, seq = (
        Reconstruction(layout, "ordered"),
        SampleView(layout),
        [],
        0,
    )
    for period, came in enumerate(arrivals, 1):
        for tick in range(8):
            now = (period * 8 + tick) * 5 * MS
            if tick < len(came):
                k, seq = came[tick], seq + 1
                stamp = k * 40 * MS
                record = pack_sample(layout, replace(make_sample(k, stamp), seq=seq))
                motion.note(0, record, now)
                view.update(record)
            if not seq:
                continue
            if is_made:
                rows.append(motion.follow(view, [seq], [True], now).pose[0, 0])
            else:
                rows.append(view.pose[0, 0])
    return np.array(rows)


IN_ORDER = [(k,) for k in range(1, 16)]


def test_a_lost_waypoint_stops_nothing_and_leaves_the_path_less():
    """TeleXR's figure 2 (B)."""
    lost = [*IN_ORDER[:7], (), *IN_ORDER[8:]]
    whole = follow(IN_ORDER)

    ours, plain = follow(lost), follow(lost, is_made=False)

    speed = np.diff(ours)[40:]
    assert speed.min() > 0.5 * np.median(speed), "no stop between the others"
    assert (np.diff(plain)[40:] == 0.0).any()
    off = np.abs(ours - whole)[40:].max()
    assert off < np.abs(plain - follow(IN_ORDER, is_made=False))[40:].max()
    assert off < 2e-4


def test_captures_out_of_order_leave_the_path_as_it_is():
    """TeleXR's figure 2 (C): the last comes before the two before it."""
    mixed = [*IN_ORDER[:7], (), (), (10, 8, 9), *IN_ORDER[10:]]

    ours, plain = follow(mixed), follow(mixed, is_made=False)

    assert (np.diff(ours)[40:] > 0.0).all(), "it neither stops nor goes back"
    assert (np.diff(plain) < 0.0).any()
    assert np.abs(ours - follow(IN_ORDER))[40:].max() < 2e-4, "a fifth of a step"
