"""The doctor finds planted faults of an SO-101's servos, in virtual time.

Each has to be named by its joint with a remedy.
"""

from __future__ import annotations

import json
import math
import re

import pytest
from planted_feetech import NAMES, cause, put

from paprle.cli import main
from paprle.hardware.feetech.models import UNIT

pytest.importorskip("scservo_sdk")

OFF = round(math.radians(17.0) / UNIT)  # [counts]


def stand_at_stop(joint, q, counts):
    """Return a plant: a homing offset off by 17° while the joint is at a stop."""

    def plant(bench):
        bench.order(b'{"cmd": "hold"}')
        order = {"cmd": "pose", "joints": {joint: q}}
        bench.order(json.dumps(order).encode())
        bench.read(1, "ID")  # a hand moves from a client's first packet on
        bench.wait(3.0)
        servo = bench.servo(NAMES.index(joint) + 1)
        homing = servo.memory.get("Homing_Offset") + counts
        put(joint, Homing_Offset=homing)(bench)

    return plant


def open_lock(bench):
    bench.write(3, "Lock", 0)


def take_torque_limit(bench):
    bench.write(3, "Torque_Limit", 0)


def miss_a_stop(bench):
    """End the sweep of the elbow 34° before its upper stop: its zero is 17° off."""
    high = bench.servo(3).memory.get("Max_Position_Limit")
    put("elbow_flex", Max_Position_Limit=high - 2 * OFF)(bench)


def make_gripper_settings(bench):
    put("elbow_flex", Max_Torque_Limit=500, Protection_Current=250, Overload_Torque=25)(
        bench
    )


REGISTERS = {
    "homing offset off by 17° at the lower stop": (
        stand_at_stop("shoulder_lift", -1.75, OFF),
        "shoulder_lift: .* 1[0-9] .deg. beyond the lower end.*homing offset.*calibrate",
    ),
    "homing offset off by 17° at the upper stop": (
        stand_at_stop("elbow_flex", 1.7, -OFF),
        "elbow_flex: .* 1[0-9] .deg. beyond the upper end.*calibrate it with",
    ),
    "a stop that was not reached, 17° at the zero": (
        miss_a_stop,
        "elbow_flex: .* got 160: .* upper one, so that its zero is 17 .*calibrate it",
    ),
    "exchanged ids of joints with stops": (
        cause(fault="swapped", joint="shoulder_pan", **{"with": "wrist_flex"}),
        "shoulder_pan and wrist_flex: .*exchanged; .*setup-servos",
    ),
    "exchanged ids of neighbours": (
        cause(fault="swapped", joint="shoulder_lift", **{"with": "elbow_flex"}),
        "shoulder_lift and elbow_flex: .*exchanged; .*setup-servos",
    ),
    "exchanged ids of roll and gripper": (
        cause(fault="swapped", joint="wrist_roll", **{"with": "gripper"}),
        "wrist_roll and gripper: .*exchanged; .*setup-servos",
    ),
    "protections of a gripper at another joint": (
        make_gripper_settings,
        "elbow_flex: servo 3.*protections of an arm's joint.*set a Max_Torque_Limit",
    ),
    "direction reversed in Phase": (
        put("wrist_flex", Phase=13),
        "wrist_flex: servo 4.*reversed.*setup-servos",
    ),
    "counts several turns by Phase": (
        put("elbow_flex", Phase=28),
        "elbow_flex: servo 3.*of several .*lost with its power; clear it.*setup-servos",
    ),
    "a full turn while off, counted": (
        lambda bench: (
            put("elbow_flex", Phase=28)(bench),
            cause(fault="turned", joint="elbow_flex", turns=1)(bench),
        ),
        "elbow_flex: servo 3.*of several .*setup-servos",
    ),
    "no limits, turns are counted": (
        put("elbow_flex", Min_Position_Limit=0, Max_Position_Limit=0),
        "elbow_flex: .*no limits: the servo counts several turns.*calibrate it with",
    ),
    "range reversed": (
        put("gripper", Min_Position_Limit=2674, Max_Position_Limit=1420),
        "gripper: .*reversed one, 2674 to 1420; calibrate it with",
    ),
    "gripper closed where it is open": (
        put("gripper", Min_Position_Limit=2047, Max_Position_Limit=2047),
        "gripper: .*got none, 2047 to 2047: .*closed and open at once; calibrate",
    ),
    "gripper that hardly opens": (
        put("gripper", Min_Position_Limit=2000, Max_Position_Limit=2100),
        "gripper: .*got 9: .*closed and open at the same place; calibrate",
    ),
    "range too wide": (
        put("shoulder_lift", Min_Position_Limit=100, Max_Position_Limit=4000),
        "shoulder_lift: .* travel of 200 .*got 343: .*calibrate it with",
    ),
    "limits tighter than the robot's": (
        put("shoulder_lift", Max_Position_Limit=2900),
        "follower.limits.q_max.shoulder_lift=.*calibrate it",
    ),
    "factory calibration at one servo": (
        put(
            "elbow_flex",
            Homing_Offset=0,
            Min_Position_Limit=0,
            Max_Position_Limit=4095,
        ),
        "elbow_flex: .*travel of 194 .*got 360.*calibrate",
    ),
    "wheel mode": (
        put("shoulder_pan", Operating_Mode=1),
        "shoulder_pan: servo 1.*got 1 .speed.; set it with paprle setup-servos",
    ),
    "angular resolution of three": (
        put("elbow_flex", Angular_Resolution=3),
        "elbow_flex: servo 3.*resolution of 1, got 3.*setup-servos",
    ),
    "writes that are not answered": (
        put("elbow_flex", Response_Status_Level=0),
        "elbow_flex: servo 3.*response level 0: .*setup-servos",
    ),
    "return delay": (
        put("elbow_flex", Return_Delay_Time=250),
        "elbow_flex: servo 3.*return delay 0, got 500 .*setup-servos",
    ),
    "no torque": (
        put("elbow_flex", Max_Torque_Limit=0),
        "elbow_flex: servo 3.*Max_Torque_Limit of at least 1000, got 0.*setup-servos",
    ),
    "torque lowered": (
        put("shoulder_lift", Max_Torque_Limit=700),
        "shoulder_lift: servo 2.*at least 1000, got 700.*weak.*setup-servos",
    ),
    "overload protection off": (
        put("gripper", Unloading_Condition=0x0C),
        "gripper: servo 6.*got none from overload .*setup-servos",
    ),
    "overload threshold out of reach": (
        put("shoulder_lift", Overload_Torque=200),
        "shoulder_lift: servo 2.*Overload_Torque of 20 to 90, got 200.*setup-servos",
    ),
    "heat protection out of reach": (
        put("shoulder_lift", Max_Temperature_Limit=100),
        "shoulder_lift: servo 2.*got 100: it burns out .*setup-servos",
    ),
    "odd P": (
        put("elbow_flex", P_Coefficient=200),
        "elbow_flex: servo 3.*P_Coefficient of 8 to 64, got 200.*setup-servos",
    ),
    "odd I": (
        put("elbow_flex", I_Coefficient=50),
        "elbow_flex: servo 3.*I_Coefficient.*got 50.*setup-servos",
    ),
    "dead zone": (
        put("wrist_flex", CW_Dead_Zone=30),
        "wrist_flex: servo 4.*CW_Dead_Zone.*got 30.*setup-servos",
    ),
    "7.4 V servo among those for 12 V": (
        put("elbow_flex", Max_Voltage_Limit=80),
        "elbow_flex: servo 3.*(for 12 V.*one for 7.4 V|4.0 to 8.0).*",
    ),
    "12 V servos at 7.4 V": (
        cause(fault="voltage", volts=7.4),
        "shoulder_pan: servo 1.*at least 10.5 .*12 V servo, got 7.4.*power supply",
    ),
    "supply sags along the chain": (
        cause(fault="voltage", joint="gripper", volts=10.8),
        "gripper: servo 6.*expected 12.0 .*got 10.8 .*check its plugs",
    ),
    "supply out of limits": (
        cause(fault="voltage", joint="gripper", volts=3.0),
        "gripper: servo 6.*got 3.0 .V.; check the power supply",
    ),
    "firmware of its own": (
        put("wrist_roll", Firmware_Minor_Version=5),
        "wrist_roll: servo 5.*expected firmware 3.10, .*got 3.5.*update",
    ),
    "another model": (
        cause(fault="wrong_model", joint="elbow_flex", number=2825),
        "elbow_flex: servo 3.*expected a sts3215, got a sts3250; correct the model",
    ),
    "two servos of one id": (
        cause(fault="duplicate_id", joint="wrist_flex", of=3),
        "elbow_flex: servo 3.*two at once; connect one of them alone.*setup-servos",
    ),
    "all at another rate": (
        cause(fault="baud", rate=500_000),
        "all of them at 500000 .*set baud=500000",
    ),
    "one at another rate": (
        cause(fault="baud", joint="wrist_flex", rate=500_000),
        "servo 4.*expected 1000000 .*got it at 500000 .*setup-servos",
    ),
    "an id out of the list": (
        put("gripper", ID=9),
        "got a sts3215 with id 9; if it is one of those.*setup-servos",
    ),
    "overload since its power came": (
        cause(fault="overload", joint="gripper"),
        "gripper: servo 6.*overloaded.*take the load off",
    ),
    "silent": (
        cause(fault="silent", joint="gripper"),
        "gripper: servo 6.*got none at 1000000.*check its cable",
    ),
}


@pytest.mark.parametrize(("plant", "text"), REGISTERS.values(), ids=REGISTERS)
def test_a_fault_at_the_servos_is_named_with_a_remedy(bench, look, plant, text):
    plant(bench)

    faults, _ = look()

    assert any(re.search(text, line) for line in faults), faults


@pytest.mark.parametrize(
    ("plant", "text"),
    [
        (open_lock, "CHECK elbow_flex: servo 3.*settings locked.*torque on"),
        (take_torque_limit, "CHECK elbow_flex: servo 3.*Torque_Limit, got 0"),
    ],
    ids=["open lock", "torque limit 0 in use"],
)
def test_settings_that_paprle_corrects_are_no_faults(bench, look, plant, text):
    plant(bench)

    faults, lines = look()

    assert faults == []
    assert any(re.search(text, line) for line in lines), lines


@pytest.mark.parametrize(("plant", "code"), [(None, 0), (miss_a_stop, 1)])
def test_the_exit_code_shows_whether_there_are_faults(bench, look, capsys, plant, code):
    del look  # which puts the virtual wire in place
    if plant is not None:
        plant(bench)

    assert main(["doctor", "follower=so101", "env=feetech"]) == code

    said = capsys.readouterr().out
    assert ("FAULT" in said) == bool(code)
    assert ("nothing wrong was found" in said) != bool(code)
