"""Contract tests of a live leader's faults 1 to 10.

Faults absent from ``EmulatedHand.faults`` are skipped.
"""
# ruff: noqa: D102, S101 - tests: the name is the sentence

from __future__ import annotations

import math
import random
from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
import pytest

from paprle.config import resolve
from paprle.contracts.plugins import Clock, Leader
from paprle.contracts.types import SessionState
from paprle.hosts.plan import make_robot
from paprle.testing.stepped import EmulatedHand, H, SteppedSession

_MOVING = 0.1  # [m/s] chosen: an unhurried hand
_SPEAKS = 8 * H  # [s] chosen: a camera of 30 Hz has said something by then
_STILL = 1.0  # [s] spec: safety.md S2: how long nothing may move after a press
_GARBAGE_COST = 1e-3  # [s] spec: safety.md 4, row 3, of a tick
_OUTSIDE = math.radians(3.0)  # [rad] spec: safety.md 4, row 8
_PIPER = ("follower=piper", "env=kinematic")


class LeaderFaultsContract(ABC):
    """Fault tests of any live leader; fill the two hooks.

    Attributes:
        silence: Silence after which the robot brakes, [s].
        release: Least release of the dead-man, [s].
        stops: Stopping time of the emulated hand, [s].
        aligns: A press first moves the robot slowly.
        loses: Accepted duration of lost tracking or leaps, [s].
        tremor: Joint motion of the resting hand, [rad].
        is_gesture: The dead-man is a gesture.
        has_rest: Axes have positions, unlike keys.
        returns: Time until a device that left is taken again, [s].
        has_own_words: The device itself refuses a press, and tells why.
    """

    words: tuple[str, ...]
    silence = 0.1  # spec: safety.md A1
    release = 0.1  # spec: safety.md 4, row 7
    mends = True
    has_deadman = True
    stops = 0.5
    aligns = False
    loses = _SPEAKS + H  # its next message, and a tick
    tremor = 0.0
    endures_garbage = False
    is_gesture = False
    has_rest = True
    returns = 0.5
    has_own_words = False

    @abstractmethod
    def make_hand(self, leader: Leader, clock: Clock) -> EmulatedHand:
        """Return a hand at an open leader's device."""

    def make_session(self) -> SteppedSession:
        return SteppedSession(self.words, self.make_hand)

    @pytest.fixture
    def session(self) -> Iterator[SteppedSession]:
        """Yield an engaged session; check its commands."""
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
        """Check that the robot comes to a stand."""
        info = session.session.plan.robot.info
        session.step(within + float((info.dq_max / info.ddq_max).max()) + 3 * H)
        still = session.q_cmd
        session.step(0.1)
        assert (session.q_cmd == still).all(), "the robot stands"

    def check_needs_a_press(self, session: SteppedSession) -> None:
        """Check that motion has no effect before a press."""
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
            moved = np.abs(session.q_cmd - still).max()
            assert moved < 1e-9 + self.tremor, "a press moves nothing"
        session.hand.speed, since = _MOVING, len(session.commands)
        session.step(0.5)
        assert session.find_reach(since) > 1e-3, "and then it is followed"

    def check_is_slow(self, session: SteppedSession, since: int) -> None:
        """Check that the robot aligns slowly."""
        plan = session.session.plan
        q, h = np.array(session.commands[since:]), 1e-9 * session.session.gate_ns
        share = np.full(len(plan.robot.info.dq_max), plan.resolved.session.speed)
        for limb in plan.robot.limbs.values():
            if limb.gripper is not None:  # a gripper may be three times as fast
                at = plan.robot.joint_names.index(limb.gripper.joint)
                share[at] = min(3.0 * share[at], 1.0)
        fastest = share * plan.robot.info.dq_max
        assert "ALIGNING" in session.states
        assert (np.abs(np.diff(q, axis=0)) <= fastest * h * (1.0 + 1e-6)).all()

    def check_is_let_go(self, session: SteppedSession) -> None:
        """Check that the session is clutched, engaged once."""
        assert session.state == "CLUTCHED"
        assert session.n_engaged == 1, "it does not engage to and fro"

    def test_1_silence_brakes_and_waits_for_a_press(
        self, session: SteppedSession
    ) -> None:
        self.fail(session, "off")

        session.step(self.silence + 2 * H)
        self.check_is_let_go(session)
        self.brake(session, 0.0)
        self.check_needs_a_press(session)

    def test_2_a_hand_that_stays_is_legal_and_the_robot_stands(
        self, session: SteppedSession
    ) -> None:
        session.hand.speed = 0.0
        session.step(1.0)
        still = session.q_cmd
        session.step(2.0)

        assert session.state == "ENGAGED"
        assert np.abs(session.q_cmd - still).max() < 1e-6 + self.tremor

    def test_2_one_that_measures_the_same_for_2_s_is_told_of(
        self, session: SteppedSession
    ) -> None:
        if not session.leader.info.is_measured or self.tremor:
            pytest.skip("this device may say the same for long, or never does")
        session.hand.speed = 0.0
        session.step(self.stops + 2.0)

        assert session.session.core.stuck.limbs == session.leader.info.limbs

    def test_3_garbage_moves_nothing_is_counted_and_costs_no_time(
        self, session: SteppedSession
    ) -> None:
        session.hand.speed = 0.0
        session.step(self.stops)
        since, n_clean = len(session.commands), session.hand.n_refused
        n_ticks = len(session.times)
        self.fail(session, "garbage")
        session.step(2.0)

        assert session.find_reach(since) < 1e-3
        n_refused = session.hand.n_refused
        assert n_refused is None or n_refused > (n_clean or 0)
        clean, spoilt = session.times[:n_ticks], session.times[n_ticks:]
        assert np.median(spoilt) - np.median(clean) < _GARBAGE_COST

    def test_3_garbage_that_persists_is_silence(self, session: SteppedSession) -> None:
        self.fail(session, "garbage")
        if self.endures_garbage or session.leader.info.emits == "axes":
            pytest.skip("this device is heard beside garbage, or may be silent")

        self.brake(session, self.silence)
        self.check_is_let_go(session)
        self.check_needs_a_press(session)

    def test_4_a_leap_lets_go_and_is_not_followed(
        self, session: SteppedSession
    ) -> None:
        session.hand.speed = 0.0
        session.step(self.stops)
        since = len(session.commands)
        self.fail(session, "leap")
        session.step(self.loses)
        self.check_is_let_go(session)
        session.hand.fault = ""
        session.step(2.0)

        assert session.find_reach(since) < 0.02

    def test_4_after_a_leap_nothing_moves_before_a_press(
        self, session: SteppedSession
    ) -> None:
        self.fail(session, "leap")

        session.step(self.loses)
        self.check_is_let_go(session)
        self.brake(session, 0.0)
        self.check_needs_a_press(session)

    @pytest.mark.parametrize(("on", "off"), [(1, 39), (30, 90)], ids=["5 Hz", "bursts"])
    def test_5_a_slow_device_never_engages_to_and_fro(
        self, session: SteppedSession, on: int, off: int
    ) -> None:
        for _ in range(5):
            session.hand.fault = ""
            session.step(on * H)
            self.fail(session, "off")
            session.step(off * H)

        self.check_is_let_go(session)

    def test_5_one_that_is_heard_half_of_the_time_never_engages_to_and_fro(
        self, session: SteppedSession
    ) -> None:
        draws = random.Random(1)
        for _ in range(200):
            session.hand.fault = ""
            if draws.random() < 0.5:
                self.fail(session, "off")
            session.step()

        assert session.n_engaged == 1

    def test_5_a_delay_of_300_ms_lets_go(self, session: SteppedSession) -> None:
        self.fail(session, "delayed")

        self.brake(session, self.silence)
        session.step(1.0)
        self.check_is_let_go(session)
        self.check_needs_a_press(session)

    def test_6_lost_tracking_disengages_and_comes_back_without_a_jump(
        self, session: SteppedSession
    ) -> None:
        self.fail(session, "lost")

        session.step(self.loses)
        self.check_is_let_go(session)
        self.brake(session, 0.0)
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

    def test_7_a_dead_man_held_from_the_start_counts_once_it_was_let_go_of(
        self,
    ) -> None:
        session = self.make_session()
        if not session.leader.info.has_deadman or self.is_gesture:
            session.close()
            pytest.skip("this device has no dead-man, or waits for a gesture itself")
        session.hand.is_held, session.hand.speed = True, _MOVING
        session.until("WAITING").step(0.5)
        session.press_enter()
        session.step(1.0)
        session.hand.speed = 0.0

        assert session.state == "WAITING"
        assert session.find_reach() == 0.0
        assert self.has_own_words or "let go, then" in session.session.core.note
        session.engage()
        session.close()

    @pytest.mark.parametrize("fault", ["lapse", "reconnect", "lost", "off"])
    def test_7_a_press_that_was_lost_counts_after_a_release_alone(
        self, session: SteppedSession, fault: str
    ) -> None:
        if not session.leader.info.has_deadman:
            pytest.skip("this device has no dead-man")
        self.fail(session, fault)
        session.step(max(self.loses, self.silence) + 2 * H)
        self.check_is_let_go(session)
        self.brake(session, 0.0)
        session.hand.fault, still = "", session.q_cmd
        if not self.mends:
            return
        session.step(self.returns)
        if not self.is_gesture:
            session.press_enter()  # a key does not stand for the release
        session.step(0.5)

        self.check_is_let_go(session)
        assert (session.q_cmd == still).all()
        session.hand.speed = 0.0
        session.engage()

    def test_7_an_axis_that_was_never_at_rest_moves_nothing(self) -> None:
        session = self.make_session()
        if session.leader.info.emits != "axes" or not self.has_rest:
            session.close()
            pytest.skip("this device has no axes that say where they are")
        session.hand.speed = _MOVING
        session.engage()
        session.step(1.0)
        n_still = len(session.commands)
        assert session.find_reach() == 0.0
        session.hand.speed = 0.0
        session.step(0.2)
        session.hand.speed = _MOVING
        session.step(0.5)
        session.close()

        assert session.find_reach(n_still) > 1e-3

    @pytest.mark.parametrize("opening", [0.5, 0.0])
    def test_7_a_trigger_that_was_never_at_rest_moves_no_gripper(
        self, opening: float
    ) -> None:
        session = self.make_session()
        if not session.leader.info.has_trigger:
            session.close()
            pytest.skip("this device has no trigger")
        (gripper,) = (
            session.session.plan.robot.joint_names.index(limb.gripper.joint)
            for limb in session.session.plan.robot.limbs.values()
            if limb.gripper is not None
        )
        session.hand.opening = opening
        session.engage()
        session.step(1.0)
        moved = np.array(session.commands)[:, gripper]
        assert np.ptp(moved) == 0.0, "it reads so from plugging in"
        for rest in (1.0, 0.5):
            session.hand.opening = rest
            session.step(2.0)
        session.close()

        closed = np.array(session.commands)[:, gripper]
        assert np.ptp(closed) > 1e-3

    @pytest.mark.parametrize("outside", [_OUTSIDE, -_OUTSIDE], ids=["above", "below"])
    def test_8_a_press_moves_no_arm_that_stands_outside_its_limits(
        self, outside: float
    ) -> None:
        if self.aligns:
            pytest.skip("this device takes the robot to its own joints")
        words = self.words
        info = make_robot(resolve((*words, *_PIPER))).info
        q = (info.q_max if outside > 0.0 else info.q_min)[0] + outside
        start = f"env.q_start.{info.joint_names[0]}={q}"
        session = SteppedSession(words, self.make_hand, (*_PIPER, start))
        session.session.core.state = SessionState.WAITING  # nobody has sent it home
        session.step(0.1)
        session.engage()
        before = session.q_cmd
        session.step(_STILL)
        session.close()

        assert np.abs(session.q_cmd - before).max() <= self.tremor
        assert before[0] == q

    @pytest.mark.parametrize("stall", [0.3, 0.5, 2.0])
    def test_9_a_stall_that_comes_all_at_once_is_no_jump(
        self, session: SteppedSession, stall: float
    ) -> None:
        self.fail(session, "late")
        self.brake(session, max(stall, self.silence) - 0.1)
        self.check_is_let_go(session)
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
            assert session.find_reach() > 1e-3
            paths.append(np.array(session.commands))

        n = min(len(path) for path in paths)
        assert (paths[0][-n:] == paths[1][-n:]).all()
