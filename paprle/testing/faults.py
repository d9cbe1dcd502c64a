"""Faults 1 to 10 of a live leader, as tests that its plug-in inherits.

A hand at an emulated device drives a whole session in virtual time, and the device
misbehaves. What a device cannot do wrong is left out of ``EmulatedHand.faults``, with
the reason beside it; its tests are then skipped.
"""
# ruff: noqa: D102, S101 - tests: the name is the sentence

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
import pytest

from paprle.contracts.plugins import Clock, Leader
from paprle.testing.stepped import EmulatedHand, H, SteppedSession

_MOVING = 0.1  # [m/s] chosen: an unhurried hand
_SPEAKS = 8 * H  # [s] chosen: a camera of 30 Hz has said something by then
_STILL = 1.0  # [s] spec: safety.md S2: how long nothing may move after a press


class LeaderFaultsContract(ABC):
    """What holds for any live leader; fill the two hooks.

    Attributes:
        words: The command line's words of the leader.
        silence: For how long nothing may come before the robot brakes, [s].
        release: For how long the dead-man is let go of before it counts, [s].
        mends: The device can come back once it was off.
        has_deadman: The device has one.
        stops: How long the emulated hand takes to stand still, [s].
        aligns: Its joints drive joints, so that a press takes the robot to them
            first, slowly.
    """

    words: tuple[str, ...]
    silence = 0.1  # spec: safety.md A1
    release = 0.1  # spec: safety.md 4, row 7
    mends = True
    has_deadman = True
    stops = 0.5
    aligns = False

    @abstractmethod
    def make_hand(self, leader: Leader, clock: Clock) -> EmulatedHand:
        """Return a hand at the device of an open leader."""

    def make_session(self) -> SteppedSession:
        return SteppedSession(self.words, self.make_hand)

    @pytest.fixture
    def session(self) -> Iterator[SteppedSession]:
        """Yield a session whose hand moves the robot; the oracle judges it at last."""
        session = self.make_session()
        session.engage()
        session.hand.speed = _MOVING
        session.step(0.4)
        assert session.find_reach() > 1e-3, "the hand drives the robot"
        yield session
        session.close()
        session.judge()

    def fail(self, session: SteppedSession, fault: str) -> None:
        if fault not in session.hand.faults:
            pytest.skip(f"this device knows no '{fault}'")
        session.hand.fault = fault

    def brake(self, session: SteppedSession, within: float) -> None:
        """Go on until the robot must stand, and see that it does."""
        info = session.session.plan.robot.info
        session.step(within + float((info.dq_max / info.ddq_max).max()) + 3 * H)
        still = session.q_cmd
        session.step(0.1)
        assert (session.q_cmd == still).all(), "the robot stands"

    def check_needs_a_press(self, session: SteppedSession) -> None:
        """The device works and the hand moves; nothing follows before a press."""
        session.hand.fault, still = "", session.q_cmd
        if not self.mends:
            return
        session.step(0.5)
        assert session.state == "CLUTCHED"
        assert (session.q_cmd == still).all(), "nothing moves before a press"
        session.hand.speed = 0.0
        since = len(session.commands)
        session.engage()
        if self.aligns:
            self.check_is_slow(session, since)
        else:
            session.step(_STILL)
            assert np.abs(session.q_cmd - still).max() < 1e-9, "a press moves nothing"
        session.hand.speed, since = _MOVING, len(session.commands)
        session.step(0.5)
        assert session.find_reach(since) > 1e-3, "and then it is followed"

    def check_is_slow(self, session: SteppedSession, since: int) -> None:
        """See that no joint went faster than in slow moves from a command on."""
        plan = session.session.plan
        q, h = np.array(session.commands[since:]), 1e-9 * session.session.gate_ns
        fastest = plan.resolved.session.speed * plan.robot.info.dq_max
        assert "ALIGNING" in session.states
        assert (np.abs(np.diff(q, axis=0)) <= fastest * h * (1.0 + 1e-6)).all()

    def test_1_silence_brakes_and_waits_for_a_press(
        self, session: SteppedSession
    ) -> None:
        self.fail(session, "off")

        self.brake(session, self.silence)
        assert session.state == "CLUTCHED"
        self.check_needs_a_press(session)

    def test_2_a_hand_that_stays_is_legal_and_the_robot_stands(
        self, session: SteppedSession
    ) -> None:
        session.hand.speed = 0.0
        session.step(1.0)
        still = session.q_cmd
        session.step(2.0)

        assert session.state == "ENGAGED"
        assert np.abs(session.q_cmd - still).max() < 1e-6

    def test_3_garbage_moves_nothing(self, session: SteppedSession) -> None:
        session.hand.speed = 0.0
        session.step(self.stops)
        since = len(session.commands)
        self.fail(session, "garbage")
        session.step(2.0)

        assert session.find_reach(since) < 1e-3

    def test_4_a_leap_is_not_followed(self, session: SteppedSession) -> None:
        session.hand.speed = 0.0
        session.step(self.stops)
        since = len(session.commands)
        self.fail(session, "leap")
        session.step(_SPEAKS)
        session.hand.fault = ""
        session.step(2.0)

        assert session.find_reach(since) < 0.02

    @pytest.mark.parametrize(("on", "off"), [(1, 39), (30, 90)], ids=["5 Hz", "bursts"])
    def test_5_a_slow_device_never_engages_to_and_fro(
        self, session: SteppedSession, on: int, off: int
    ) -> None:
        for _ in range(5):
            session.hand.fault = ""
            session.step(on * H)
            self.fail(session, "off")
            session.step(off * H)

        states = np.array(session.states)
        begins = (states[1:] == "ENGAGED") & (states[:-1] != "ENGAGED")
        assert begins.sum() == 1
        assert session.state == "CLUTCHED"

    def test_6_lost_tracking_disengages_and_comes_back_without_a_jump(
        self, session: SteppedSession
    ) -> None:
        self.fail(session, "lost")

        self.brake(session, self.silence)
        assert session.state == "CLUTCHED"
        self.check_needs_a_press(session)

    def test_7_a_dead_man_that_is_let_go_of_brakes(
        self, session: SteppedSession
    ) -> None:
        if not self.has_deadman:
            pytest.skip("this device has no dead-man")
        session.hand.is_held = False
        session.step(self.release)

        assert session.state == "CLUTCHED"
        self.brake(session, 0.0)

    @pytest.mark.parametrize("stall", [0.3, 0.5, 2.0])
    def test_9_a_stall_that_comes_all_at_once_is_no_jump(
        self, session: SteppedSession, stall: float
    ) -> None:
        self.fail(session, "late")
        self.brake(session, max(stall, self.silence) - 0.1)
        assert session.state == "CLUTCHED"
        self.check_needs_a_press(session)

    def test_10_what_is_repeated_or_old_changes_nothing(self) -> None:
        paths = []
        for fault in ("", "repeats"):
            session = self.make_session()
            session.engage()
            if "repeats" not in session.hand.faults:
                session.close()
                pytest.skip("this device knows no 'repeats'")
            session.hand.fault = fault
            session.hand.speed = _MOVING
            session.step(0.7)
            session.close()
            paths.append(np.array(session.commands))

        n = min(len(path) for path in paths)
        assert (paths[0][-n:] == paths[1][-n:]).all()
