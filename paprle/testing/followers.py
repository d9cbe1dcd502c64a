"""Contract tests of followers."""
# ruff: noqa: ARG002, D102, S101 - tests: the name is the sentence

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from paprle.contracts.plugins import Follower
from paprle.contracts.types import FollowerInfo, FollowerState, RobotInfo
from paprle.testing.clock import ManualClock

_N_CYCLES = 100  # chosen: enough to meet a call that waits
_CYCLES_TIME = 2.0  # [s] chosen: 20 ms a cycle is a blocked call on any machine


class FollowerContract(ABC):
    """Tests of any follower; fill ``make_follower``."""

    settle_time = 2.0
    """Time the follower under test has to reach a small step, [s]."""
    tolerance = 0.05
    """Largest error after that time, [rad] or [m]."""
    speed = 0.5
    """Share of the joints' top speeds at which it is moved."""

    @abstractmethod
    def make_follower(self, clock: ManualClock) -> Follower:
        """Return a new, unopened follower."""

    def unplug(self, follower: Follower) -> None:
        """Unplug the robot, if possible."""
        pytest.skip("this follower has no plug")

    @pytest.fixture
    def clock(self) -> ManualClock:
        """Return the follower's clock."""
        return ManualClock()

    @pytest.fixture
    def follower(self, clock: ManualClock) -> Iterator[Follower]:
        """Yield the opened follower."""
        follower = self.make_follower(clock)
        self.info = follower.open()
        yield follower
        follower.close("hold")

    def cycle(
        self, follower: Follower, clock: ManualClock, q_cmd: np.ndarray
    ) -> FollowerState:
        """Read, write, advance; return the reading."""
        state = follower.read()
        follower.write(q_cmd)
        clock.advance(1 / self.info.rate)
        return state

    def test_says_what_it_is(self, follower: Follower) -> None:
        info: FollowerInfo = self.info

        assert info.joint_names == follower.robot.joint_names
        assert info.rate > 0
        assert info.lag >= 0
        assert info.power_off in {"falls", "brakes"}
        if not info.simulated:  # leave for it is asked before it is given power
            assert follower.goes_on_unattended == (not info.has_unattended_stop)

    def test_an_openable_device_has_no_obstacles(self, clock: ManualClock) -> None:
        follower = self.make_follower(clock)

        assert tuple(follower.preflight()) == ()
        assert isinstance(follower.unchecked, str)

    def test_closes_before_it_was_opened_and_twice(self, clock: ManualClock) -> None:
        follower = self.make_follower(clock)

        follower.close("hold")
        follower.open()
        follower.close("hold")
        follower.close("off")

    def test_opens_again_after_close(self, clock: ManualClock) -> None:
        for _ in range(2):
            follower = self.make_follower(clock)
            follower.open()
            check_state(follower.robot, follower.read(), follower.objects)
            follower.close("off")

    def test_reads_a_complete_state_before_anything_was_written(
        self, follower: Follower, clock: ManualClock
    ) -> None:
        state = follower.read()

        check_state(follower.robot, state, follower.objects)
        assert state.stamp_ns <= clock()
        assert not state.stop_reason
        assert (state.tau is not None) == self.info.has_effort

    def test_moves_nothing_by_being_opened(
        self, follower: Follower, clock: ManualClock
    ) -> None:
        begin = follower.read().q
        for _ in range(20):
            state = self.cycle(follower, clock, begin)

        assert np.abs(state.q - begin).max() < self.tolerance

    def test_goes_where_it_is_told(
        self, follower: Follower, clock: ManualClock
    ) -> None:
        begin, robot = follower.read().q, follower.robot
        rate, n = self.info.rate, int(self.settle_time * self.info.rate)
        goal = np.clip(begin + 0.1 * robot.dq_max, robot.q_min, robot.q_max)
        q_cmd = begin.copy()
        for _ in range(n):
            step = self.speed * robot.dq_max / rate
            q_cmd = q_cmd + np.clip(goal - q_cmd, -step, step)
            state = self.cycle(follower, clock, q_cmd)

        assert np.abs(state.q - goal).max() < self.tolerance

    def test_states_are_complete_and_stamps_never_go_back(
        self, follower: Follower, clock: ManualClock
    ) -> None:
        last = follower.read()
        for _ in range(20):
            state = self.cycle(follower, clock, last.q)
            check_state(follower.robot, state, follower.objects)
            assert last.stamp_ns <= state.stamp_ns <= clock()
            last = state

    def test_simulated_time_advances_one_period_a_write(
        self, follower: Follower, clock: ManualClock
    ) -> None:
        begin = follower.read()
        if begin.sim_time is None:
            assert not self.info.simulated
            pytest.skip("not a simulation")
        for _ in range(10):
            self.cycle(follower, clock, begin.q)
        end = follower.read()

        assert end.sim_time is not None
        elapsed = end.sim_time - begin.sim_time
        assert elapsed == pytest.approx(10 / self.info.rate, rel=1e-6)

    def test_does_not_keep_or_change_what_it_is_given(
        self, follower: Follower, clock: ManualClock
    ) -> None:
        begin = follower.read()
        before = begin.q.copy()
        q_cmd = begin.q.copy()

        self.cycle(follower, clock, q_cmd)
        assert np.array_equal(q_cmd, before)
        q_cmd[:] = 1e3
        state = follower.read()

        assert np.array_equal(begin.q, before), "a state given is never changed"
        assert np.abs(state.q - before).max() < self.tolerance

    def test_read_and_write_never_block(
        self, follower: Follower, clock: ManualClock
    ) -> None:
        q = follower.read().q

        begin = time.perf_counter()
        for _ in range(_N_CYCLES):
            self.cycle(follower, clock, q)
        assert time.perf_counter() - begin < _CYCLES_TIME

    def test_unplugged_robot_is_stale_or_says_so(
        self, follower: Follower, clock: ManualClock
    ) -> None:
        q = follower.read().q

        self.unplug(follower)
        for _ in range(int(0.2 * self.info.rate)):
            state = self.cycle(follower, clock, q)

        assert state.stop_reason or clock() - state.stamp_ns > 0.09e9


def check_state(
    robot: RobotInfo, state: FollowerState, objects: Sequence[str] = ()
) -> None:
    """Check that a state is complete and read-only."""
    n = len(robot.joint_names)
    vectors = [state.q, state.dq] + ([] if state.tau is None else [state.tau])
    for values in vectors:
        assert values.dtype == np.float64
        assert values.shape == (n,)
        assert np.isfinite(values).all()
        assert not values.flags.writeable, "arrays in states are read-only"
    if not objects:
        assert state.objects is None, "declare Follower.objects"
        return
    assert state.objects is not None, "one row for each of Follower.objects"
    assert state.objects.shape == (len(objects), 7)
    assert not state.objects.flags.writeable, "arrays in states are read-only"
    there = state.objects[~np.isnan(state.objects).any(axis=1)]
    assert np.allclose(np.linalg.norm(there[:, 3:], axis=1), 1.0), "quat_xyzw"
