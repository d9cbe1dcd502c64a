"""Contract tests of leaders."""
# ruff: noqa: ARG002, D102, S101 - tests: the name is the sentence

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
import pytest

from paprle.contracts.plugins import Leader
from paprle.contracts.types import Cues, Feedback, LeaderSample, SessionState
from paprle.testing.clock import ManualClock
from paprle.testing.samples import check_info, check_sample, make_feedback

_STEP = 0.005  # [s] chosen: the default period of a session
_N_CALLS = 200  # chosen: enough to meet a call that waits
_CALLS_TIME = 1.0  # [s] chosen: 5 ms a call is a blocked call even on a busy machine
_SOON = 400  # chosen: ticks within which an opened leader has said something


class LeaderContract(ABC):
    """Tests of any leader; fill ``make_leader``."""

    @abstractmethod
    def make_leader(self, clock: ManualClock) -> Leader:
        """Return a new, unopened leader."""

    def stimulate(self, leader: Leader, clock: ManualClock) -> None:  # noqa: B027
        """Make the device send, before each tick."""

    def unplug(self, leader: Leader) -> None:
        """Unplug the device, if possible."""
        pytest.skip("this leader has no plug")

    @pytest.fixture
    def clock(self) -> ManualClock:
        """Return the leader's clock."""
        return ManualClock()

    @pytest.fixture
    def leader(self, clock: ManualClock) -> Iterator[Leader]:
        """Yield the opened leader."""
        leader = self.make_leader(clock)
        leader.open()
        yield leader
        leader.close()

    def tick(self, leader: Leader, clock: ManualClock) -> LeaderSample | None:
        """Return the newest sample, one period later."""
        self.stimulate(leader, clock)
        clock.advance(_STEP)
        return leader.latest()

    def first(self, leader: Leader, clock: ManualClock) -> LeaderSample:
        """Return the first sample."""
        for _ in range(_SOON):
            sample = self.tick(leader, clock)
            if sample is not None:
                return sample
        raise AssertionError(f"no sample within {_SOON * _STEP} s")

    def test_says_what_it_is_before_it_is_opened(self, clock: ManualClock) -> None:
        leader = self.make_leader(clock)

        check_info(leader.info)
        assert leader.info == self.make_leader(clock).info

    def test_an_openable_device_has_no_obstacles(self, clock: ManualClock) -> None:
        leader = self.make_leader(clock)

        assert tuple(leader.preflight()) == ()
        assert isinstance(leader.unchecked, str)

    def test_closes_before_it_was_opened_and_twice(self, clock: ManualClock) -> None:
        leader = self.make_leader(clock)

        leader.close()
        leader.open()
        leader.close()
        leader.close()

    def test_opens_again_after_close(self, clock: ManualClock) -> None:
        for _ in range(2):
            leader = self.make_leader(clock)
            leader.open()
            self.first(leader, clock)
            leader.close()

    def test_samples_are_what_it_declared(
        self, leader: Leader, clock: ManualClock
    ) -> None:
        check_sample(leader.info, self.first(leader, clock))
        for _ in range(50):
            sample = self.tick(leader, clock)
            assert sample is not None, "there is a newest sample once there was one"
            check_sample(leader.info, sample)

    def test_stamps_and_sequence_never_go_back(
        self, leader: Leader, clock: ManualClock
    ) -> None:
        last = self.first(leader, clock)
        for _ in range(50):
            sample = self.tick(leader, clock)
            assert sample is not None
            assert last.stamp_ns <= sample.stamp_ns <= clock()
            assert sample.seq > last.seq or sample.stamp_ns == last.stamp_ns
            last = sample

    def test_samples_do_not_change_once_given(
        self, leader: Leader, clock: ManualClock
    ) -> None:
        sample = self.first(leader, clock)
        before = _flatten(sample)
        for _ in range(20):
            self.tick(leader, clock)

        assert np.array_equal(_flatten(sample), before)

    def test_latest_never_blocks(self, leader: Leader, clock: ManualClock) -> None:
        self.first(leader, clock)

        begin = time.perf_counter()
        for _ in range(_N_CALLS):
            leader.latest()
        assert time.perf_counter() - begin < _CALLS_TIME

    @pytest.mark.parametrize("state", list(SessionState), ids=lambda s: s.name)
    def test_takes_feedback_of_any_state(
        self, leader: Leader, clock: ManualClock, state: SessionState
    ) -> None:
        leader.apply(make_feedback(state, stamp_ns=clock()))

        check_sample(leader.info, self.first(leader, clock))

    def test_takes_feedback_it_cannot_render(
        self, leader: Leader, clock: ManualClock
    ) -> None:
        tau = np.full(3, 1e3)
        leader.apply(
            Feedback(
                stamp_ns=clock(),
                state=SessionState.ENGAGED,
                episode=0,
                is_engaged=True,
                tau={"no_such_limb": tau},
                cues=Cues(contact=1.0, limit=1.0, clearance=1.0),
                rumble=1.0,
            )
        )

        check_sample(leader.info, self.first(leader, clock))

    def test_unplugged_device_goes_stale_or_invalid(
        self, leader: Leader, clock: ManualClock
    ) -> None:
        self.first(leader, clock)

        self.unplug(leader)
        for _ in range(20):
            clock.advance(_STEP)
            sample = leader.latest()

        assert sample is not None
        is_stale = clock() - sample.stamp_ns > 0.09e9
        assert is_stale or not sample.valid or not sample.engaged


class AutomaticLeaderContract(LeaderContract):
    """Further tests of automatic leaders."""

    longest = 120.0
    """Longest time that one episode of the leader under test takes, [s]."""

    def play(self, leader: Leader, clock: ManualClock, episode: int) -> LeaderSample:
        """Engage; return the episode's last sample."""
        engaged = make_feedback(SessionState.ENGAGED, stamp_ns=clock(), episode=episode)
        for _ in range(int(self.longest / _STEP)):
            leader.apply(engaged)
            sample = self.tick(leader, clock)
            assert sample is not None
            if sample.end:
                return sample
        raise AssertionError(f"episode {episode} did not end in {self.longest} s")

    def test_a_leader_without_an_operator_is_not_human(self, leader: Leader) -> None:
        assert not leader.info.is_human

    def test_holds_its_first_pose_and_asks_to_start_until_engaged(
        self, leader: Leader, clock: ManualClock
    ) -> None:
        first = self.first(leader, clock)
        leader.apply(make_feedback(SessionState.ALIGNING, stamp_ns=clock()))
        for _ in range(20):
            sample = self.tick(leader, clock)
        assert sample is not None

        assert sample.start
        assert sample.engaged
        assert sample.valid
        assert not sample.end
        assert np.array_equal(_flatten(sample), _flatten(first))

    def test_ends_the_episode_at_rest(self, leader: Leader, clock: ManualClock) -> None:
        last = self.play(leader, clock, episode=0)
        for _ in range(20):
            sample = self.tick(leader, clock)
        assert sample is not None

        assert sample.end
        assert not sample.start
        assert np.array_equal(_flatten(sample), _flatten(last))

    def test_starts_over_with_the_next_episode_or_is_exhausted(
        self, leader: Leader, clock: ManualClock
    ) -> None:
        first = self.first(leader, clock)
        last = self.play(leader, clock, episode=0)

        leader.apply(make_feedback(SessionState.WAITING, stamp_ns=clock(), episode=1))
        sample = self.tick(leader, clock)

        assert sample is not None
        if last.is_exhausted:
            assert sample.end
            assert sample.is_exhausted
        else:
            assert sample.start
            assert not sample.end
            assert np.array_equal(_flatten(sample), _flatten(first))


def _flatten(sample: LeaderSample) -> np.ndarray:
    parts = []
    for limb in sorted(sample.limbs):
        command = sample.limbs[limb]
        if command.q is not None:
            parts.append(command.q)
        if command.T_leader_base_leader_eef is not None:
            parts.append(command.T_leader_base_leader_eef.homogeneous.ravel())
        if command.opening is not None:
            parts.append(np.array([command.opening]))
    return np.concatenate(parts) if parts else np.zeros(0)
