"""The rules of all makers' arms hold with a scripted controller."""

import numpy as np
import pytest

from paprle.hardware.vendor_arm.arm import Reading, VendorArm
from paprle.hardware.vendor_arm.clock import DeviceClock
from paprle.hardware.vendor_arm.states import (
    READY,
    REMEDIES,
    RESUMING,
    ArmError,
    ArmState,
    Condition,
    describe,
)

MS = 1_000_000
ZEROS = np.zeros(6)


class Scripted(VendorArm):
    """An arm whose readings a test sets; it notes what is done to it."""

    def __init__(self, clock):
        super().__init__(
            "arm", clock, rate=500.0, watchdog=0.1,
            age_clock=lambda: clock() + self.slept_ns,
        )  # fmt: skip
        self.slept_ns = 0
        self.condition, self.q, self.age_ns = READY, ZEROS, 0
        self.speed, self.refuses = 1.0, False
        self.done = []

    def _read(self):
        stamp = self._clock() - self.age_ns
        return Reading(stamp, self.q, ZEROS, ZEROS, self.condition, self.speed)

    def _send(self, q):
        if self.refuses:
            raise ArmError("servoJ was not obeyed")
        self.done.append(("goal", q.tolist()))

    def _keep(self):
        self.done.append("keep")

    def _end_program(self):
        self.done.append("end")

    def _start_program(self):
        self.done.append("start")

    def _leave(self, *, is_powerless):
        self.done.append(("leave", is_powerless))

    def turn(self):
        self._serve()
        done, self.done = self.done, []
        return done


class Clock:
    now = 10_000 * MS

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def arm(clock):
    arm = Scripted(clock)
    arm.read()
    arm._spoke_ns = clock()
    return arm


def test_a_goal_is_sent_once(arm):
    arm.write(ZEROS)
    assert arm.turn() == [("goal", [0.0] * 6)]
    assert arm.turn() == []
    reading, reason = arm.read()
    assert reason == ""
    assert arm.find_held(reading) is not None


def test_goals_that_wait_are_sent_in_order_half_a_period_apart(arm, clock):
    for k in range(3):
        arm.write(ZEROS + 0.001 * k)
    sent = []
    for _ in range(6):
        sent += [done[1][0] for done in arm.turn()]
        clock.now += MS // 2
    assert sent == [0.0, 0.001, 0.002]
    assert arm.n_dropped == 0


def test_a_goal_that_waited_is_not_sent_late(arm, clock):
    arm.write(ZEROS)
    clock.now += 21 * MS
    assert arm.turn() == []
    arm.write(ZEROS)
    assert len(arm.turn()) == 1
    assert arm.n_dropped == 1


def test_a_goal_from_before_a_sleep_of_the_computer_is_not_sent(arm):
    arm.write(ZEROS)
    arm.slept_ns = 60_000 * MS  # the clock of readings stood still
    assert arm.turn() == []
    arm.write(ZEROS)
    assert len(arm.turn()) == 1
    assert arm.n_dropped == 1


def run_once(arm):
    """Serve once, as the thread does."""
    try:
        return arm.turn()
    except ArmError as err:
        arm._note_trouble(str(err))
        return []


def move(arm, clock, n=5):
    """Send goals of a moving arm; return the last, [rad]."""
    for k in range(n):
        arm.write(ZEROS + 0.004 * k)
        assert len(run_once(arm)) == 1
        clock.now += 2 * MS
    return 0.004 * (n - 1)


def write_more(arm, clock, last, n):
    """Give goals while the arm's thread stands still; return the newest, [rad]."""
    for k in range(n):
        arm.write(ZEROS + last + 0.004 * (k + 1))
        clock.now += 2 * MS
    return last + 0.004 * n


@pytest.mark.parametrize("n_stalled", [7, 24, 49])
def test_no_goal_is_skipped_where_the_thread_alone_stood_still(arm, clock, n_stalled):
    last = move(arm, clock)
    newest, sent = write_more(arm, clock, last, n_stalled), [last]

    for k in range(3 * n_stalled):
        if k % 2 == 0:
            newest += 0.004
            arm.write(ZEROS + newest)
        sent += [goal[1][0] for goal in run_once(arm)]
        clock.now += 1 * MS

    assert np.diff(sent) == pytest.approx(0.004)
    assert sent[-1] == pytest.approx(newest), "it has caught up"
    assert arm.n_dropped == 0
    assert arm.read()[1] == ""


def test_a_thread_that_stood_still_for_long_in_motion_is_a_stop(arm, clock):
    newest = write_more(arm, clock, move(arm, clock), 52)

    assert run_once(arm) == []
    assert "goals waited for 104 [ms]" in arm.read()[1]
    arm.write(ZEROS + newest + 0.004)
    assert set(run_once(arm)) <= {"keep"}, "until a goal is where the arm is"


def test_goals_of_before_a_stall_of_the_gate_are_not_sent_though_newer_ones_are(
    arm, clock
):
    last = move(arm, clock)
    write_more(arm, clock, last, 3)
    clock.now += 21 * MS  # nothing runs, then the gate alone
    arm.write(ZEROS + last)

    assert run_once(arm) == [("goal", (ZEROS + last).tolist())]
    assert arm.n_dropped == 3


def test_a_gate_that_did_not_notice_a_stall_goes_on_without_a_jump(arm, clock):
    last = move(arm, clock)
    newest, sent = write_more(arm, clock, last, 6), [last]
    clock.now += 21 * MS  # nothing runs

    assert set(run_once(arm)) <= {"keep"}
    for _ in range(20):
        newest += 0.004
        arm.write(ZEROS + newest)
        for _ in range(2):
            sent += [done[1][0] for done in run_once(arm) if done != "keep"]
            clock.now += 1 * MS

    assert np.diff(sent) == pytest.approx(0.004)
    assert sent[-1] == pytest.approx(newest)
    assert arm.n_dropped == 0


def test_a_refused_goal_in_motion_is_a_stop_for_a_while_and_nothing_follows(arm, clock):
    last = move(arm, clock)
    arm.refuses = True
    arm.write(ZEROS + last + 0.004)
    assert run_once(arm) == []
    arm.refuses = False

    for k in range(200):
        arm.write(ZEROS + 0.2 + 0.001 * k)
        assert set(run_once(arm)) <= {"keep"}
        clock.now += 2 * MS
        assert "was not obeyed; look at the network" in arm.read()[1]
    clock.now += 200 * MS
    assert arm.read()[1] == ""

    arm.write(arm.q)  # where the arm is, as after a new engagement
    assert len(run_once(arm)) == 1


def test_a_refused_goal_of_a_standing_arm_is_no_stop(arm, clock):
    move(arm, clock, n=1)
    clock.now += 1100 * MS
    arm.refuses = True
    arm.write(ZEROS)
    assert run_once(arm) == []

    assert arm.read()[1] == ""


def test_nothing_is_sent_into_a_cable_that_is_out(arm, clock):
    arm.age_ns = 60 * MS
    arm.write(ZEROS)
    assert arm.turn() == []
    clock.now += 60 * MS
    assert arm.turn() == [], "nor kept alive: its watchdog shall end it"


def test_the_watchdog_is_kept_only_while_the_owner_reads(arm, clock):
    clock.now += 30 * MS
    assert arm.turn() == ["keep"]
    clock.now += 30 * MS
    arm.read()
    assert arm.turn() == ["keep"]
    clock.now += 51 * MS
    assert arm.turn() == [], "a gate that stands still is no gate"


def test_until_the_first_reading_it_is_kept_alive(clock):
    arm = Scripted(clock)
    for _ in range(3):
        clock.now += 500 * MS
        assert arm.turn() == ["keep"], "a session may take long to begin"


@pytest.mark.parametrize("state", [s for s in ArmState if s is not ArmState.READY])
def test_after_a_stop_nothing_is_sent_until_a_goal_is_where_the_arm_is(
    arm, clock, state
):
    far = ZEROS + 0.3
    arm.condition = Condition(state)
    arm.write(ZEROS)
    assert ("goal", [0.0] * 6) not in arm.turn()
    arm.condition = READY
    arm.write(far)
    assert arm.turn() == [], "it would jump"
    arm.write(ZEROS + 0.04)
    assert len(arm.turn()) == 1
    clock.now += 2 * MS
    arm.write(far)
    assert len(arm.turn()) == 1, "from then on the gate's limits hold"


def test_a_stop_that_only_a_reader_has_seen_mutes_as_well(arm):
    arm.condition = Condition(ArmState.ENDED)
    arm.read()
    arm.condition = READY
    arm.write(ZEROS + 0.3)
    assert arm.turn() == []


@pytest.mark.parametrize("state", sorted(RESUMING, key=lambda s: s.value))
def test_a_program_that_would_go_on_by_itself_is_ended(arm, clock, state):
    arm.condition = Condition(state)
    assert arm.turn() == ["end"]
    assert arm.turn() == [], "not 500 times a second"
    clock.now += 501 * MS
    arm.read()
    assert arm.turn() == ["end"]


def test_an_ended_program_is_started_again_for_a_living_owner_alone(arm, clock):
    arm.condition = Condition(ArmState.ENDED)
    assert arm.turn() == ["start"]
    clock.now += 600 * MS
    assert arm.turn() == [], "nobody reads"
    arm.read()
    assert arm.turn() == ["start"]


def stand(arm, clock, seconds=1.2):
    for _ in range(round(seconds / 0.02)):
        clock.now += 20 * MS
        arm.read()
        arm.write(ZEROS)
        arm.turn()


def test_our_own_silence_while_it_stands_is_no_stop_for_a_while(arm, clock):
    stand(arm, clock)
    clock.now += 150 * MS
    arm.condition = Condition(ArmState.ENDED)
    assert arm.read()[1] == ""
    assert arm.turn() == ["start"]
    clock.now += 2900 * MS
    assert arm.read()[1] == ""
    clock.now += 200 * MS
    assert "does not run" in arm.read()[1], "it does not begin again"


def test_a_program_that_is_started_again_after_a_stop_stays_explained(arm, clock):
    stand(arm, clock)
    arm.condition = Condition(ArmState.PROTECTIVE_STOP)
    assert "protective stop" in arm.read()[1]
    clock.now += 150 * MS  # nothing is sent to an arm that stopped
    arm.condition = Condition(ArmState.ENDED)
    assert "does not run" in arm.read()[1]


def test_a_program_that_another_ended_is_a_stop(arm, clock):
    stand(arm, clock)
    arm.condition = Condition(ArmState.ENDED)
    assert "does not run" in arm.read()[1]


def test_our_own_silence_in_motion_is_a_stop(arm, clock):
    stand(arm, clock)
    arm.write(ZEROS + 0.001)
    arm.turn()
    clock.now += 150 * MS
    arm.condition = Condition(ArmState.ENDED)
    assert "does not run" in arm.read()[1]


@pytest.mark.parametrize(
    "state", [ArmState.EMERGENCY_STOP, ArmState.POWER_OFF, ArmState.DISCONNECTED]
)
def test_steps_for_a_person_are_left_to_a_person(arm, state):
    arm.condition = Condition(state)
    assert arm.turn() == []


def test_a_slider_at_0_is_a_reason(arm):
    arm.speed = 0.0
    assert "speed slider" in arm.read()[1]
    arm.write(ZEROS)
    assert arm.turn() == []


def test_a_refused_goal_mutes_in_the_thread_and_a_close_ends_it(arm):
    arm.refuses = True
    arm.start()
    for _ in range(50):
        arm.write(ZEROS)
        arm._must_end.wait(0.002)
        if arm._is_muted:
            break
    arm.close(is_powerless=True)
    assert arm._is_muted
    assert arm.done[-1] == ("leave", True)
    arm.close(is_powerless=False)


def test_each_state_has_words_and_a_remedy():
    assert describe(READY) == ""
    for state in set(ArmState) - {ArmState.READY}:
        assert REMEDIES[state] in describe(Condition(state, "C204"))
        assert "(C204)" in describe(Condition(state, "C204"))
    own = {ArmState.FAULT: "clean_error()"}
    assert describe(Condition(ArmState.FAULT), own) == "fault; clean_error()"


def test_a_reading_is_as_old_as_the_fastest_one_says():
    clock, late = DeviceClock(), 50 * MS
    t = [clock.to_ours(k * 0.002, 5000 * MS + k * 2 * MS) for k in range(100)]
    assert t[-1] == 5000 * MS + 99 * 2 * MS
    at = clock.to_ours(0.2, 5200 * MS + late)
    assert at == pytest.approx(5200 * MS, abs=0.1 * MS), "a late one is old"
    again = clock.to_ours(0.2, 5300 * MS + late)
    assert again == pytest.approx(5200 * MS, abs=0.2 * MS), "as is a frozen one"
    assert clock.to_ours(3.0, 8000 * MS) == 8000 * MS
    assert clock.to_ours(0.002, 90_000 * MS) == 90_000 * MS, "started again"
