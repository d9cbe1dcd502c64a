"""Behaviour of a servo: as reported by users by default, ideal on request."""

from __future__ import annotations

import math

import pytest
from feetech_rig import FeetechBench

from paprle_emulators.feetech.models import RAD_PER_TICK

PAN, LIFT, ROLL = 1, 2, 5


@pytest.fixture
def bench():
    return FeetechBench()


@pytest.fixture
def ideal():
    return FeetechBench(is_ideal=True)


def move(bench, number, q):
    """Put a joint somewhere without torque."""
    bench.limb.arm.q[number - 1] = bench.limb.arm.motor_q[number - 1] = q
    bench.limb.show()


# -- positions -------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(1, 5))
def test_the_middle_of_a_joint_is_the_middle_of_its_range(bench, number):
    move(bench, number, 0.0)

    assert bench.read(number, "Present_Position") == 2047
    low, high = (bench.read(number, f"{end}_Position_Limit") for end in ("Min", "Max"))
    assert (low + high) / 2 == pytest.approx(2047, abs=0.5)


def test_the_homing_offset_is_subtracted(bench):
    move(bench, PAN, 0.0)
    offset = bench.read(PAN, "Homing_Offset")
    bench.write(PAN, "Homing_Offset", offset + 100)

    assert bench.read(PAN, "Present_Position") == 1947


def test_a_position_wraps_at_4096(bench):
    move(bench, ROLL, 2048 * RAD_PER_TICK)
    assert bench.read(ROLL, "Present_Position") == 4095
    move(bench, ROLL, 2049 * RAD_PER_TICK)
    assert bench.read(ROLL, "Present_Position") == 0


def test_a_servo_as_delivered_counts_beyond_4095():
    bench = FeetechBench(setup="factory")
    move(bench, PAN, 2.9)
    beyond = bench.read(PAN, "Present_Position")
    phase = bench.read(PAN, "Phase")
    bench.write(PAN, "Phase", phase & ~0x10)

    assert beyond > 4095
    assert bench.read(PAN, "Present_Position") == beyond - 4096


def test_turns_are_lost_without_power():
    bench = FeetechBench(setup="factory")
    before = bench.read(PAN, "Present_Position")
    bench.faults.cause({"fault": "turned", "joint": "shoulder_pan", "turns": 1})

    assert bench.read(PAN, "Present_Position") == before


def test_writing_128_makes_the_position_2048(bench):
    bench.write(PAN, "Torque_Enable", 128)

    assert bench.read(PAN, "Present_Position") == 2048
    assert bench.read(PAN, "Torque_Enable") == 0
    bench.servo(PAN).power_up()
    assert bench.read(PAN, "Present_Position") == 2048


# -- memory ----------------------------------------------------------------------------


def test_a_locked_value_is_in_use_until_the_power_goes(bench):
    bench.write(PAN, "P_Coefficient", 99)
    assert bench.read(PAN, "P_Coefficient") == 99
    bench.servo(PAN).power_up()

    assert bench.read(PAN, "P_Coefficient") == 16


def test_an_unlocked_value_stays(bench):
    bench.write(PAN, "Lock", 0)
    bench.write(PAN, "P_Coefficient", 99)
    bench.servo(PAN).power_up()

    assert bench.read(PAN, "P_Coefficient") == 99
    assert bench.read(PAN, "Lock") == 1


def test_measurements_cannot_be_written(bench):
    before = bench.read(PAN, "Present_Voltage")
    bench.write(PAN, "Present_Voltage", 3)

    assert bench.read(PAN, "Present_Voltage") == before == 120


def test_a_brown_out_loses_torque_goal_and_ram(bench):
    bench.hold()
    bench.write(PAN, "Acceleration", 50)
    bench.write(PAN, "Goal_Position", 2200)
    bench.faults.cause({"fault": "brownout", "seconds": 0.1})
    bench.wait(0.3)

    assert not any(servo.is_on for servo in bench.limb.servos)
    assert bench.read(PAN, "Acceleration") == 0
    place = bench.read(PAN, "Present_Position")
    assert bench.read(PAN, "Goal_Position") == pytest.approx(place, abs=2)


# -- torque and goals ------------------------------------------------------------------


def test_torque_on_returns_to_the_old_goal(bench):
    bench.write(PAN, "Goal_Position", 2047)
    bench.write(PAN, "Torque_Enable", 0)
    move(bench, PAN, 0.6)
    bench.write(PAN, "Torque_Enable", 1)
    bench.wait(0.5)

    assert abs(bench.limb.arm.q[0]) < 0.1


def test_an_ideal_servo_stays_where_torque_finds_it(ideal):
    ideal.write(PAN, "Goal_Position", 2047)
    move(ideal, PAN, 0.6)
    ideal.write(PAN, "Torque_Enable", 1)
    ideal.wait(0.5)

    assert ideal.limb.arm.q[0] == pytest.approx(0.6, abs=0.02)


def test_a_goal_switches_the_torque_on(bench, ideal):
    for one in (bench, ideal):
        one.write(PAN, "Torque_Enable", 0)
        one.write(PAN, "Goal_Position", 2100)

    assert bench.read(PAN, "Torque_Enable") == 1
    assert ideal.read(PAN, "Torque_Enable") == 0


@pytest.mark.long
def test_a_servo_holds_its_goal_without_further_commands(bench):
    bench.write(PAN, "Goal_Position", 2300)
    bench.wait(3.0)

    assert bench.read(PAN, "Present_Position") == pytest.approx(2300, abs=12)
    assert bench.read(PAN, "Torque_Enable") == 1


def test_a_goal_beyond_the_range_goes_to_the_edge(ideal):
    ideal.write(LIFT, "Torque_Enable", 1)
    ideal.write(LIFT, "Goal_Position", 4090)

    high = ideal.read(LIFT, "Max_Position_Limit")
    assert ideal.servo(LIFT).control.target == high
    assert ideal.read(LIFT, "Goal_Position") == 4090


def test_a_goal_beyond_the_range_goes_to_the_edge_that_is_nearest_on_the_circle(bench):
    bench.write(PAN, "Min_Position_Limit", 200)
    bench.write(PAN, "Max_Position_Limit", 3000)
    bench.write(PAN, "Goal_Position", 4090)

    assert bench.servo(PAN).control.target == 200


@pytest.mark.long
def test_a_small_torque_lets_a_weak_gain_stop_short(bench):
    bench.write(PAN, "Minimum_Startup_Force", 0)
    bench.write(PAN, "Goal_Position", 2047)
    bench.wait(1.0)
    bench.write(PAN, "Goal_Position", 2049)
    bench.wait(1.0)

    assert bench.read(PAN, "Present_Position") != 2049


@pytest.mark.long
def test_the_goal_velocity_limits_the_motion(bench):
    bench.hold()
    bench.write(PAN, "Goal_Velocity", 200)
    start = bench.read(PAN, "Present_Position")
    bench.write(PAN, "Goal_Position", start + 500)
    bench.wait(1.0)

    assert 120 <= bench.read(PAN, "Present_Position") - start <= 230
    assert bench.read(PAN, "Moving") == 1
    bench.wait(3.0)
    assert bench.read(PAN, "Moving") == 0


@pytest.mark.long
def test_acceleration_zero_is_the_fastest_start(bench):
    ways = []
    for value in (10, 254, 0):
        bench.write(PAN, "Maximum_Acceleration", 0)
        bench.write(PAN, "Acceleration", value)
        move(bench, PAN, 0.0)
        bench.hold(PAN)
        bench.write(PAN, "Goal_Position", 3000)
        bench.wait(0.2)
        ways.append(bench.read(PAN, "Present_Position") - 2047)
        bench.write(PAN, "Torque_Enable", 0)
        bench.wait(0.5)

    assert ways[0] < ways[1] < ways[2]


@pytest.mark.long
def test_no_motion_is_faster_than_the_maximum_velocity(bench):
    bench.limb.arm.q[1:4] = -1.2, 1.2, 0.0
    bench.hold()
    bench.write(PAN, "Goal_Position", 3200)
    fastest = 0.0
    for _ in range(300):
        bench.wait(0.002)
        fastest = max(fastest, abs(bench.limb.arm.dq[0]))

    assert 3.0 < fastest < 5.5  # 3,400 ticks/s are 5.2 rad/s


@pytest.mark.long
def test_speed_mode_turns_until_told_otherwise(bench):
    bench.write(ROLL, "Operating_Mode", 1)
    bench.write(ROLL, "Torque_Enable", 1)
    bench.write(ROLL, "Goal_Velocity", -500)
    bench.wait(0.6)

    assert bench.read(ROLL, "Present_Velocity") == pytest.approx(-500, abs=100)


def test_pwm_mode_drives_with_a_duty(bench):
    bench.write(ROLL, "Operating_Mode", 2)
    bench.write(ROLL, "Torque_Enable", 1)
    bench.write(ROLL, "Goal_Time", 200)
    bench.wait(0.3)

    assert bench.read(ROLL, "Present_Load") == 200
    assert bench.limb.arm.dq[4] > 0.3


@pytest.mark.long
def test_step_mode_moves_by_steps(bench):
    bench.write(ROLL, "Operating_Mode", 3)
    bench.write(ROLL, "Torque_Enable", 1)
    for _ in range(2):
        start = bench.read(ROLL, "Present_Position")
        bench.write(ROLL, "Goal_Position", 100)
        bench.wait(0.6)
        way = bench.read(ROLL, "Present_Position") - start
        assert way == pytest.approx(100, abs=12)


@pytest.mark.long
def test_damping_brakes_and_does_not_hold():
    turned = []
    for value in (0, 2):
        one = FeetechBench()
        one.write(PAN, "Torque_Enable", value)
        one.limb.arm.push[0] = 0.5
        one.wait(0.3)
        turned.append(one.limb.arm.q[0])

    assert 0.02 < turned[1] < 0.7 * turned[0]


def test_any_register_can_be_set_wrongly_and_back(bench):
    bench.faults.cause(
        {"fault": "register", "id": PAN, "name": "Firmware_Minor_Version", "value": 9}
    )
    assert bench.read(PAN, "Firmware_Minor_Version") == 9
    bench.faults.clear()

    assert bench.read(PAN, "Firmware_Minor_Version") == 10


@pytest.mark.parametrize(("name", "value"), [("Goal", 1), ("Phase", 300)])
def test_a_register_that_cannot_be_is_refused(bench, name, value):
    with pytest.raises(ValueError, match="expected"):
        bench.faults.cause({"fault": "register", "name": name, "value": value})


def test_a_horn_that_is_17_degrees_off_shows_in_the_position(bench):
    before = bench.read(LIFT, "Present_Position")
    bench.faults.cause(
        {"fault": "mounting", "joint": "shoulder_lift", "offset": math.radians(17)}
    )

    turned = bench.read(LIFT, "Present_Position") - before
    assert turned == pytest.approx(17 / 360 * 4096, abs=1)


def test_a_servo_that_faces_the_other_way_counts_backwards(bench):
    bench.faults.cause({"fault": "mounting", "joint": "shoulder_pan", "sign": -1})
    before = bench.read(PAN, "Present_Position")
    move(bench, PAN, 0.2)

    assert bench.read(PAN, "Present_Position") == before - round(0.2 / RAD_PER_TICK)


def test_a_folded_arm_rests_within_its_limits(bench):
    before = [servo.position for servo in bench.limb.servos]
    bench.wait(0.5)

    for servo, place in zip(bench.limb.servos, before, strict=True):
        low, high = servo.control.settings.low, servo.control.settings.high
        assert low < servo.position < high
        assert abs(servo.position - place) <= 1
