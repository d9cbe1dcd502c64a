"""Stops and losses of an arm are named, and it is sent nothing after them."""

import contextlib
import dataclasses
import os
import signal
import time

import numpy as np
import pytest
from franka_rig import ORACLES, count_commands, running_franka, wait_until
from piper_rig import load

from paprle.contracts.errors import CommandError, DeviceError
from paprle.followers.franka.config import FrankaConfig
from paprle.followers.franka.follower import FrankaFollower
from paprle_emulators.franka.arm import Arm
from paprle_emulators.franka.faults import UnitFaults, UnitLine
from paprle_emulators.franka.models import HOME
from paprle_emulators.franka.protocol import N_ERRORS, Command, Error, Mode
from paprle_emulators.franka.unit import Unit

pytestmark = [pytest.mark.process, pytest.mark.nightly]  # a session is in every run
IN_FLIGHT = 100_000_000  # [ns] until the unit's word has come
LONG = 30.0  # [s] for what a busy computer does late


def run(follower, clock, q=None, *, until=None, time_s=1.5):
    """Write q, or where the arm was, for a time or until it is so."""
    state = follower.read()
    held = state.q if q is None else q
    end = time.monotonic() + (time_s if until is None else LONG)
    while time.monotonic() < end:
        state = follower.read()
        if until is not None and until(state):
            break
        follower.write(held)
        clock.advance(0.005)
    return state


def says(words):
    return lambda state: words in state.stop_reason


def commands(follower):
    """Whether the arm is commanded, where it is."""
    return lambda _: follower._arms[0][1].is_commanded


def swing(follower, clock, seconds, begin=None):
    """Move joint 4 softly to and fro, as a gate would."""
    q0 = follower.read().q.copy() if begin is None else begin
    q = q0.copy()
    for k in range(round(200 * seconds)):
        q = q0.copy()
        q[3] += 0.15 * (1 - np.cos(3 * k / 200))
        follower.read()
        follower.write(q)
        clock.advance(0.005)
    return q


STOPS = {
    "collision": ("joint_reflex", True),
    "cartesian_reflex": ("cartesian_reflex", True),
    "self_collision": ("self_collision_avoidance_violation", True),
    "power_limit": ("power_limit_violation", True),
    "torque_range": ("tau_J_range_violation", True),
    "joint_limit": ("joint_position_limits_violation", True),
    "joint_speed": ("joint_velocity_violation", True),
    "user_stop": ("emergency stop (user stop); release the activation", False),
    "guide": ("local control (guiding mode); leave guiding mode", False),
    "lock": ("brakes engaged", False),
    "manual": ("fault (", False),
}


ARGUMENTS = {"lean": {"joint": 1, "torque": 50.0}}


def make_faults(arm):
    return UnitFaults(UnitLine(), Unit(arm), None)


def list_raised():
    """Return the error bits that orders raise at an arm that moves, by order."""
    raised = {}
    for name in make_faults(Arm(np.array(HOME))).names:
        arm = Arm(np.array(HOME))
        faults = make_faults(arm)
        arm.start()
        with contextlib.suppress(ValueError):  # of a hand that is not there
            faults.apply(0, {"fault": name, **ARGUMENTS.get(name, {})})
        for _ in range(2):
            arm.step(arm.q_d.copy())
        raised[name] = {Error(k) for k in range(N_ERRORS) if arm.errors[k]}
    return raised


def test_every_order_that_raises_an_error_has_a_row():
    raised = list_raised()

    rows = {*STOPS, "lean"}
    assert {name for name, errors in raised.items() if errors} <= rows
    bits = set().union(*raised.values())
    by_commands = {
        Error.START_POSE,
        Error.MOTION_POSITION_LIMITS,
        Error.MOTION_VELOCITY_LIMITS,
        Error.MOTION_VELOCITY_DISCONTINUITY,
        Error.MOTION_ACCELERATION_DISCONTINUITY,
    }  # in test_franka_arm.py; the driver sends none of these commands
    assert bits | by_commands | {Error.COMMUNICATION} == set(Error)


def check_it_goes_on(follower, clock, arm):
    """Ask for motion from where the arm is; it follows within the limits."""
    end, way = time.monotonic() + LONG, 0.0
    while abs(way - 0.297) > 0.02:  # a busy computer may be late, and ask once more
        assert time.monotonic() < end, f"it moved by {way:.3f} rad"
        begin = run(follower, clock, until=commands(follower)).q.copy()
        swing(follower, clock, 1.0, begin)
        run(follower, clock, follower.read().q_held, time_s=0.3)
        way = follower.read().q[3] - begin[3]
    assert arm.judge().is_ok


@pytest.mark.parametrize("fault", STOPS)
def test_a_stop_is_explained_and_nothing_moves_after_it(follower, clock, arm, fault):
    words, recovers = STOPS[fault]
    swing(follower, clock, 0.5)

    at_ns = arm.do(fault)
    state = run(follower, clock, until=says(words))
    assert words in state.stop_reason
    far = state.q + 0.2
    if recovers:
        run(follower, clock, far, until=commands(follower))
    run(follower, clock, far, time_s=0.5)

    record = arm.read()
    late = record.state_stamps > at_ns + 2 * IN_FLIGHT
    assert np.ptp(record.q[late], axis=0).max() < 2e-3, "it rests"
    modes = set(record.flags[record.state_stamps > at_ns, 1])
    assert (Mode.RECOVERY in modes) == recovers
    assert (record.flags[-1, 1] == Mode.MOVE) == recovers, "commanded, where it is"
    if recovers:
        check_it_goes_on(follower, clock, arm)


def test_a_person_who_leans_on_it_stops_it_at_each_start(follower, clock, arm):
    swing(follower, clock, 0.4)

    at_ns = arm.do("lean", joint=1, torque=50.0)
    run(follower, clock, until=says("joint_reflex"))
    run(follower, clock, follower.read().q + 0.2, time_s=1.5)
    record = arm.read()
    late = record.state_stamps > at_ns + 2 * IN_FLIGHT
    assert np.ptp(record.q[late], axis=0).max() < 2e-3, "each start is a reflex again"
    is_commanded = commands(follower)(None)
    assert is_commanded or follower.read().stop_reason, "it is explained"


def test_late_commands_stop_it_and_it_goes_on_when_they_are_in_time(
    follower, clock, arm
):
    swing(follower, clock, 0.4)

    arm.do("lost", time=0.4)
    run(follower, clock, until=says("communication_constraints_violation"))
    run(follower, clock, until=commands(follower))

    check_it_goes_on(follower, clock, arm)


def test_a_user_stop_that_ends_starts_the_motion_but_moves_nothing(
    follower, clock, arm
):
    swing(follower, clock, 0.4)
    at_ns = arm.do("user_stop")
    run(follower, clock, until=says("user stop"))
    time.sleep(0.3)

    arm.do("release")
    run(follower, clock, follower.read().q + 0.3, until=commands(follower))
    run(follower, clock, follower.read().q + 0.3, time_s=0.3)

    record = arm.read()
    late = record.state_stamps > at_ns + 2 * IN_FLIGHT
    assert np.ptp(record.q[late], axis=0).max() < 2e-3
    assert record.flags[-1, 1] == Mode.MOVE


def test_a_cable_that_was_out_brings_no_old_command(follower, clock, arm):
    swing(follower, clock, 0.5)

    at_ns = arm.do("cable", time=0.6)
    state = run(follower, clock, until=says("communication_constraints_violation"))

    assert "protective stop" in state.stop_reason
    record = arm.read()
    late = record.state_stamps > at_ns + 2 * IN_FLIGHT
    assert np.ptp(record.q[late], axis=0).max() < 2e-3


def test_a_cable_that_stays_out_is_a_lost_connection(follower, clock, arm):
    swing(follower, clock, 0.3)
    at_ns = arm.do("cable")

    time.sleep(0.3)
    assert clock() - follower.read().stamp_ns > 0.2e9
    state = run(follower, clock, until=says("connection lost"))

    why = {"fr3": "UDP receive", "panda": "no state for 2 s"}[arm.model]
    assert why in state.stop_reason
    record = arm.read()
    assert count_commands(record, at_ns, record.state_stamps[-1]) == 0


def test_a_unit_without_power_is_gone(follower, clock, arm):
    swing(follower, clock, 0.3)
    arm.do("power_off")

    state = run(follower, clock, until=says("connection lost"))

    assert "start the session again" in state.stop_reason
    arm.do("power_on")
    time.sleep(0.3)
    assert arm.read().flags[-1, 1] == Mode.OTHER


def test_states_that_do_not_come_are_as_old_as_they_are(follower, clock, arm):
    run(follower, clock, time_s=0.2)

    arm.do("silence", time=0.5)
    time.sleep(0.4)

    assert clock() - follower.read().stamp_ns > 0.25e9


def test_late_packets_are_the_error_that_the_maker_documents(follower, clock, arm):
    swing(follower, clock, 0.3)

    arm.do("late", cycles=2, time=0.5)
    run(follower, clock, until=says("communication_constraints_violation"))


def test_a_process_that_dies_is_named_and_the_arm_rests(follower, clock, arm):
    swing(follower, clock, 0.3)

    os.kill(follower._arms[0][1]._process.pid, signal.SIGKILL)
    run(follower, clock, until=says("its process has ended"))

    wait_until(lambda: arm.read().flags[-1, 1] == Mode.REFLEX, LONG)


def test_a_process_that_stood_still_goes_on(follower, clock, arm):
    swing(follower, clock, 0.3)
    pid = follower._arms[0][1]._process.pid

    os.kill(pid, signal.SIGSTOP)
    run(follower, clock, time_s=1.5)  # a unit that waits does so for 1 s
    os.kill(pid, signal.SIGCONT)
    run(follower, clock, until=says("communication_constraints_violation"))

    check_it_goes_on(follower, clock, arm)


def test_a_process_that_stands_still_is_a_lost_connection(follower, clock, arm):
    swing(follower, clock, 0.3)

    os.kill(follower._arms[0][1]._process.pid, signal.SIGSTOP)
    run(follower, clock, until=says("connection lost (no state for 2 s)"))

    wait_until(lambda: arm.read().flags[-1, 1] == Mode.REFLEX, LONG)


def test_an_owner_that_stands_still_lets_the_arm_rest_and_goes_on(follower, clock, arm):
    begin = follower.read().q.copy()
    swing(follower, clock, 0.5, begin)

    time.sleep(1.6)  # longer than the watchdog
    state = run(follower, clock, until=commands(follower))
    assert np.abs(state.q_held[:7] - state.q[:7]).max() < 5e-3
    swing(follower, clock, 0.5, state.q.copy())

    assert arm.judge().is_ok


def test_the_hand_follows_and_holds_an_object(follower, clock, arm):
    arm.do("block", at=0.04)
    q = follower.read().q.copy()
    assert q[-1] == pytest.approx(0.04, abs=1e-3)
    q[-1] = 0.0

    state = run(follower, clock, q, until=lambda s: abs(s.q[-1] - 0.02) < 1e-4)

    assert state.q[-1] == pytest.approx(0.02, abs=1e-3)
    q[-1] = 0.04
    run(follower, clock, q, until=lambda s: s.q[-1] > 0.039)


def test_a_push_is_felt_at_its_joint(follower, clock, arm):
    arm.do("lean", joint=2, torque=8.0)

    state = run(follower, clock, until=lambda s: abs(s.tau[1] - 8) < 0.1)

    assert state.tau == pytest.approx([0, 8, 0, 0, 0, 0, 0, 0], abs=0.1)


def test_leaving_ends_the_motion(follower, arm):
    follower.close("hold")

    wait_until(lambda: arm.read().flags[-1, 1] == Mode.IDLE, LONG)
    assert Command.STOP_MOVE not in arm.read().requests, "it ended by its last command"


def test_wrong_commands_are_refused(follower):
    with pytest.raises(CommandError, match="expected 8 finite positions"):
        follower.write(np.full(8, np.nan))


@pytest.mark.parametrize(("unit", "version"), [("panda", 5), ("fr3", 10)])
def test_a_unit_of_another_model_is_refused(tmp_path, clock, unit, version):
    (other,) = set(ORACLES) - {unit}
    pytest.importorskip(ORACLES[other].package)
    with running_franka(tmp_path, unit) as arm:
        config = FrankaConfig(host=arm.host)
        follower = FrankaFollower(config, load(other), clock)
        words = rf"expected the control unit of a .*, got version {version} \({unit}\)"

        assert follower.preflight() == ()
        with pytest.raises(DeviceError, match=words):
            follower.open()
        (finding,) = follower.diagnose()
        requests = arm.read().requests

    assert not finding[0]
    assert f"got version {version} ({unit})" in finding[1]
    assert not len(requests), "it asked for nothing"


def test_the_doctor_moves_nothing_and_finds_what_is_wrong(arm, config, robot, clock):
    follower = FrankaFollower(config, robot, clock)

    findings = list(follower.diagnose())
    assert [well for well, _ in findings[:2]] == [True, True]
    assert "ms apart" in findings[2][1]
    arm.do("collision")
    findings = list(follower.diagnose())

    assert not findings[1][0]
    assert "joint_reflex" in findings[1][1]
    assert set(arm.read().requests) <= {Command.CONNECT, Command.GET_ROBOT_MODEL}


def test_an_address_without_a_unit_is_named(robot, clock, config):
    nowhere = dataclasses.replace(config, host="127.99.99.99")

    with pytest.raises(DeviceError, match="expected a control unit.*refused"):
        FrankaFollower(nowhere, robot, clock).open()
    (finding,) = FrankaFollower(nowhere, robot, clock).diagnose()
    assert not finding[0]
