"""Contract tests of observers and advisors."""
# ruff: noqa: D102, S101 - tests: the name is the sentence

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping

import numpy as np
import pytest

from paprle.contracts.plugins import Advisor, Frame, Observer, Record, SessionView
from paprle.contracts.types import GateState, RobotInfo, SessionState
from paprle.testing.clock import ManualClock
from paprle.testing.robots import make_robot_info
from paprle.testing.views import make_session_view

_HEAD = ("stamp_ns", "based_on_ns", "valid")
_N_VIEWS = 20  # chosen: enough to meet what changes from view to view


class _WatcherContract:
    robot: RobotInfo = make_robot_info(has_gripper=True, n_limbs=2)
    """The robot of the session; another one where the plug-in needs its URDF."""

    def make_views(self, clock: ManualClock) -> Iterator[SessionView]:
        """Yield views of a session in several states."""
        states = [
            (SessionState.ENGAGED, GateState.ENGAGED, ""),
            (SessionState.CLUTCHED, GateState.HOLD, "lag (the robot stays behind)"),
            (SessionState.STOPPED, GateState.STOPPED, "operator_stop (pressed)"),
            (SessionState.WAITING, GateState.READY, ""),
        ]
        for k in range(_N_VIEWS):
            state, gate_state, latched = states[k % len(states)]
            clock.advance(0.05)
            yield make_session_view(
                self.robot,
                clock(),
                state=state,
                gate_state=gate_state,
                latched=latched,
                leader_age=float("inf") if k == 0 else 0.01,
                episode=k // len(states),
            )

    @pytest.fixture
    def clock(self) -> ManualClock:
        """Return the plug-in's clock."""
        return ManualClock()


class ObserverContract(_WatcherContract, ABC):
    """Tests of any observer; fill ``make_observer``."""

    @abstractmethod
    def make_observer(self, clock: ManualClock) -> Observer:
        """Return a new, unopened observer."""

    @pytest.fixture
    def observer(self, clock: ManualClock) -> Iterator[Observer]:
        """Yield the opened observer."""
        observer = self.make_observer(clock)
        observer.open()
        yield observer
        observer.close()

    def test_closes_before_it_was_opened_and_twice(self, clock: ManualClock) -> None:
        observer = self.make_observer(clock)

        observer.close()
        observer.open()
        observer.close()
        observer.close()

    def test_opens_again_after_close(self, clock: ManualClock) -> None:
        for _ in range(2):
            observer = self.make_observer(clock)
            observer.open()
            for view in self.make_views(clock):
                observer.observe(view)
            observer.close()

    def test_takes_a_view_of_any_state(
        self, observer: Observer, clock: ManualClock
    ) -> None:
        for view in self.make_views(clock):
            observer.observe(view)

        assert all(isinstance(text, str) for text in observer.take_warnings())

    def test_does_not_change_what_it_is_given(
        self, observer: Observer, clock: ManualClock
    ) -> None:
        for view in self.make_views(clock):
            arrays = [view.q, view.q_cmd, view.dq, *view.targets.values()]
            before = [array.copy() for array in arrays]
            observer.observe(view)

            for array, copy in zip(arrays, before, strict=True):
                assert np.array_equal(array, copy, equal_nan=True)


class AdvisorContract(_WatcherContract, ABC):
    """Tests of any advisor; fill ``make_advisor``."""

    @abstractmethod
    def make_advisor(self, clock: ManualClock) -> Advisor:
        """Return a new, unopened advisor."""

    def make_frames(self, clock: ManualClock) -> Mapping[str, Frame]:  # noqa: ARG002
        """Return the advisor's images, by default none."""
        return {}

    @pytest.fixture
    def advisor(self, clock: ManualClock) -> Iterator[Advisor]:
        """Yield the opened advisor."""
        advisor = self.make_advisor(clock)
        advisor.open()
        yield advisor
        advisor.close()

    def test_says_what_it_will_say_before_it_is_opened(
        self, clock: ManualClock
    ) -> None:
        advice = self.make_advisor(clock).advice

        assert advice.names is not None
        assert advice.names[:3] == _HEAD, "make it with make_advice_dtype"
        assert advice == self.make_advisor(clock).advice
        assert not advice.hasobject, "it crosses to other processes as bytes"

    def test_closes_before_it_was_opened_and_twice(self, clock: ManualClock) -> None:
        advisor = self.make_advisor(clock)

        advisor.close()
        advisor.open()
        advisor.close()
        advisor.close()

    def test_opens_again_after_close(self, clock: ManualClock) -> None:
        for _ in range(2):
            advisor = self.make_advisor(clock)
            advisor.open()
            self._ask_all(advisor, clock)
            advisor.close()

    def test_advice_is_what_it_declared_and_not_of_the_future(
        self, advisor: Advisor, clock: ManualClock
    ) -> None:
        last_ns = 0
        for record in self._ask_all(advisor, clock):
            assert record.dtype == advisor.advice
            assert last_ns <= int(record["stamp_ns"]) <= clock()
            assert int(record["based_on_ns"]) <= int(record["stamp_ns"])
            last_ns = int(record["stamp_ns"])

    def test_advice_does_not_change_once_given(
        self, advisor: Advisor, clock: ManualClock
    ) -> None:
        given = self._ask_all(advisor, clock)
        before = [record.tobytes() for record in given]
        self._ask_all(advisor, clock)

        assert [record.tobytes() for record in given] == before

    def test_copes_without_images(self, advisor: Advisor, clock: ManualClock) -> None:
        for view in self.make_views(clock):
            record = advisor.advise(view, {})
            assert record is None or record.dtype == advisor.advice

    def _ask_all(self, advisor: Advisor, clock: ManualClock) -> list[Record]:
        said = [
            advisor.advise(view, self.make_frames(clock))
            for view in self.make_views(clock)
        ]
        return [record for record in said if record is not None]
