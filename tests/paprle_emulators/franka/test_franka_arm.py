"""The emulated arm and its unit, cycle by cycle."""

import math
import struct

import numpy as np
import pytest

from paprle_emulators.franka import protocol as p
from paprle_emulators.franka.arm import MOST_LOST, Arm
from paprle_emulators.franka.hand import Hand
from paprle_emulators.franka.models import FR3, HOME, MODELS, PANDA, compute_pose
from paprle_emulators.franka.protocol import Command, Error, Mode, MoveStatus, Request
from paprle_emulators.franka.unit import Unit
from paprle_emulators.franka.versions import V5, V10

MOVES = {
    10: struct.pack("<II6d?7d", 0, 0, *[0.1] * 6, False, *[0.0] * 7),
    5: struct.pack("<II6d", 0, 0, *[0.1] * 6),
}
# spec: service_types.h of version 5, beside the numbers of version 10
COMMANDS_5 = {
    Command.MOVE: 1,
    Command.STOP_MOVE: 2,
    Command.SET_COLLISION_BEHAVIOR: 4,
    Command.AUTOMATIC_ERROR_RECOVERY: 12,
}
MOVE_STATUSES_5 = {
    MoveStatus.MOTION_STARTED: 1,
    MoveStatus.NOT_POSSIBLE: 3,
    MoveStatus.REJECTED_BY_SAFETY: 3,
    MoveStatus.REFLEX_ABORTED: 6,
    MoveStatus.PREEMPTED_BY_SAFETY: 7,
}


@pytest.fixture(params=MODELS)
def model(request):
    return MODELS[request.param]


def make_arm(model=FR3, q=HOME):
    arm = Arm(np.array(q), model)
    arm.start()
    return arm


def ask(unit, command, payload=b""):
    """Return the statuses that a client of the unit's version is answered."""
    is_old = unit.version.number == 5
    number = COMMANDS_5[command] if is_old else int(command)
    answers = unit.answer(Request(p.ROBOT_PORT, number, 1, payload))
    return [answer[p.HEADER[p.ROBOT_PORT].size] for answer in answers]


def start(unit):
    return ask(unit, Command.MOVE, MOVES[unit.version.number])


def expect(unit, status):
    return [MOVE_STATUSES_5[status] if unit.version.number == 5 else status]


def find_error(arm):
    return arm.errors.find(1)


def test_follows_commands_inside_the_limits(model):
    arm = make_arm(model)
    home = np.array(HOME)

    for k in range(1001):
        arm.step(home + 0.1 * (1 - math.cos(math.pi * 1e-3 * k)))
    for _ in range(200):
        arm.step(home + 0.2)

    assert arm.mode is Mode.MOVE
    assert arm.q == pytest.approx(home + 0.2, abs=1e-4)
    assert arm.success_rate == 1.0


@pytest.mark.parametrize(
    ("steps", "error"),
    [
        ([1.1e-5], Error.MOTION_VELOCITY_DISCONTINUITY),
        ([0.9e-5], Error.MOTION_ACCELERATION_DISCONTINUITY),
        ([2e-3], Error.START_POSE),
        ([math.nan], Error.MOTION_POSITION_LIMITS),
        ([5.1e-6], Error.MOTION_ACCELERATION_DISCONTINUITY),
    ],
)
def test_a_jump_is_an_error(steps, error):
    arm = make_arm()
    q = np.array(HOME)

    for step in steps:
        q = q + step
        arm.step(q)

    assert find_error(arm) == error
    assert arm.mode is Mode.REFLEX


def test_the_jerk_that_the_maker_allows_is_taken():
    arm = make_arm()

    arm.step(np.array(HOME) + 4.99e-6)

    assert find_error(arm) == -1


@pytest.mark.parametrize("joint", range(7))
def test_each_joint_of_a_panda_has_limits_of_its_own(joint):
    # spec: FCI documentation, [rad/s²] and [rad/s³]; half of it in the first cycle
    ddq = [15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0][joint]
    dddq = [7500.0, 3750.0, 5000.0, 6250.0, 7500.0, 10000.0, 10000.0][joint]
    steps = {
        0.998e-9 * dddq: -1,
        1.002e-9 * dddq: Error.MOTION_ACCELERATION_DISCONTINUITY,
    }
    for step, error in (*steps.items(), (1.002e-6 * ddq, 14)):
        arm, q = make_arm(PANDA), np.array(HOME)
        q[joint] += step

        arm.step(q)

        assert find_error(arm) == error


def test_a_panda_is_as_fast_near_an_end_as_elsewhere():
    low, high = PANDA.limits.find_speeds(PANDA.limits.upper)

    assert list(high) == [2.175] * 4 + [2.61] * 3
    assert list(low) == list(-high)


def test_speed_near_an_end_is_less():
    low, high = FR3.limits.find_speeds(np.array([2.7, 0, 0, -1.5, 0, 2.0, 0]))

    # spec: rate_limiting.h of libfranka, upper limit of joint 1
    assert high[0] == pytest.approx(-0.30 + math.sqrt(12.0 * (2.7501 - 2.7)))
    assert low[0] == -2.62
    assert high[4] == 5.26


def test_nineteen_lost_packets_are_bridged_and_the_twentieth_stops_it(model):
    arm = make_arm(model)
    q, v = np.array(HOME), 0.0
    for _ in range(100):
        v += 3.7e-6
        q = q + v
        arm.step(q)
    speed, acceleration = arm.dq_d[0], arm.ddq_d[0]

    for _ in range(MOST_LOST - 1):
        arm.step(None)

    assert acceleration == pytest.approx(3.7, rel=1e-6)
    assert arm.dq_d[0] == pytest.approx(speed + 19e-3 * acceleration)
    assert arm.mode is Mode.MOVE
    assert arm.success_rate == pytest.approx(0.81)
    arm.step(None)
    assert find_error(arm) == Error.COMMUNICATION


def test_after_an_error_it_rests_until_it_recovers_and_is_started(model):
    arm = make_arm(model)
    unit = Unit(arm)
    arm.fail(Error.JOINT_REFLEX)
    held = arm.q_d.copy()

    assert start(unit) == expect(unit, MoveStatus.NOT_POSSIBLE)
    arm.step(held + 1e-6)
    assert arm.q_d == pytest.approx(held)
    assert ask(unit, Command.AUTOMATIC_ERROR_RECOVERY) == []
    for _ in range(600):
        arm.step(None)
    assert arm.mode is Mode.IDLE
    assert find_error(arm) == -1
    assert arm.reflex_reason[Error.JOINT_REFLEX], "it is remembered until the next one"
    assert start(unit) == expect(unit, MoveStatus.MOTION_STARTED)
    assert not any(arm.reflex_reason)


def test_a_person_who_leans_on_it_is_a_reflex():
    arm = make_arm()
    arm.push_torque[2] = 19.0
    arm.step(np.array(HOME))
    assert arm.mode is Mode.MOVE

    arm.push_torque[2] = 21.0
    arm.step(np.array(HOME))

    assert find_error(arm) == Error.JOINT_REFLEX


def test_thresholds_of_collisions_are_taken_at_rest_alone(model):
    arm = Arm(np.array(HOME), model)
    unit = Unit(arm)
    payload = struct.pack("<52d", *range(52))

    assert ask(unit, Command.SET_COLLISION_BEHAVIOR, payload) == [0]
    assert list(arm.thresholds) == list(range(21, 28))
    start(unit)
    assert ask(unit, Command.SET_COLLISION_BEHAVIOR, payload) == [1]


def test_a_user_stop_rejects_motion_and_recovery(model):
    arm = make_arm(model)
    unit = Unit(arm)
    arm.end(Mode.USER_STOPPED)

    assert start(unit) == expect(unit, MoveStatus.REJECTED_BY_SAFETY)
    aborted = 4 if model is PANDA else p.Status.SAFETY  # kEmergencyAborted
    assert ask(unit, Command.AUTOMATIC_ERROR_RECOVERY) == [aborted]
    assert ask(unit, Command.STOP_MOVE) == [p.Status.SAFETY]


@pytest.mark.parametrize(
    ("mode", "status"),
    [
        (Mode.REFLEX, MoveStatus.REFLEX_ABORTED),
        (Mode.USER_STOPPED, MoveStatus.PREEMPTED_BY_SAFETY),
    ],
)
def test_a_motion_that_ends_by_itself_answers_its_move(model, mode, status):
    arm = Arm(np.array(HOME), model)
    unit = Unit(arm)
    start(unit)
    arm.end(mode)

    (answer,) = unit.note_cycle()

    assert [answer[12]] == expect(unit, status)


def test_an_error_that_needs_a_person_is_not_recovered_from(model):
    unit = Unit(make_arm(model))
    unit.needs_manual = True
    unit.arm.fail(Error.JOINT_POSITION_LIMITS)

    refused = 2 if model is PANDA else p.Status.MANUAL_RECOVERY
    assert ask(unit, Command.AUTOMATIC_ERROR_RECOVERY) == [refused]


def test_without_power_the_brakes_hold():
    arm = make_arm()
    q, v = np.array(HOME), 0.0
    for _ in range(200):
        v += 5e-6
        q = q + v
        arm.step(q)

    arm.cut_power()
    place = arm.q.copy()
    for _ in range(500):
        arm.step(None)

    assert np.abs(arm.dq).max() < 1e-6
    assert np.abs(arm.q - place).max() < 0.05
    assert arm.mode is Mode.OTHER


def test_the_flange_is_where_the_makers_table_has_it():
    pose = compute_pose(np.array(HOME))

    # spec: libfranka's ready pose: 0.3069 m ahead, 0.5903 m above the base
    assert pose[:3, 3] == pytest.approx([0.3069, 0.0, 0.5903], abs=1e-4)
    assert pose[:3, 2] == pytest.approx([0, 0, -1], abs=1e-9)


def move_hand(hand, width, command=p.HandCommand.MOVE):
    payload = struct.pack("<2d", width, 0.1)
    if command == p.HandCommand.GRASP:
        payload = struct.pack("<5d", width, width, 0.08, 0.1, 40.0)
    hand.take(Request(p.HAND_PORT, command, 1, payload))
    for _ in range(2000):
        hand.step(0.001)
    return [status for _, status in hand.answers]


def test_a_hand_answers_when_it_has_arrived():
    hand = Hand()

    assert move_hand(hand, 0.02) == [p.HandStatus.SUCCESS]
    assert hand.width == pytest.approx(0.02, abs=1e-3)


def test_an_object_stops_a_move_and_is_held_by_a_grasp():
    hand = Hand()
    hand.obstacle = 0.05

    assert move_hand(hand, 0.02) == [p.HandStatus.UNSUCCESSFUL]
    hand.answers.clear()
    assert move_hand(hand, 0.02, p.HandCommand.GRASP) == [p.HandStatus.SUCCESS]
    assert hand.holds
    assert hand.width == 0.05


def test_sizes_are_those_of_the_makers_structures():
    # spec: sizeof of the packed structures of libfranka-common
    assert V10.state_size == 8 + 4 * 320 + 2 + 2 * 41 + 1 + 4
    assert V10.command.size == 8 + 8 * (7 + 7 + 16 + 6 + 2) + 2 + 8 * 7 + 1
    assert V5.state_size == 8 + 8 * 284 + 2 + 2 * 41 + 1 + 8
    assert V5.command.size == 8 + 8 * (7 + 7 + 16 + 6 + 2) + 2 + 8 * 7


def test_a_request_of_another_version_is_unknown(model):
    unit = Unit(Arm(np.array(HOME), model))
    number = 11 + 3 * (model is PANDA) + (model is not PANDA)

    with pytest.raises(ValueError, match="expected a command"):
        unit.answer(Request(p.ROBOT_PORT, number, 1, b""))


def test_a_client_that_comes_gets_no_answers_of_one_that_has_gone():
    arm = Arm(np.array(HOME))
    unit = Unit(arm)
    assert start(unit) == expect(unit, MoveStatus.MOTION_STARTED)
    arm.fail(Error.COMMUNICATION)

    unit.forget()

    assert unit.note_cycle() == []
    assert ask(unit, Command.AUTOMATIC_ERROR_RECOVERY) == []
