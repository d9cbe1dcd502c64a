"""Emulated arms that are driven: on their stand, by goals, and by themselves."""

from __future__ import annotations

import numpy as np
import pytest

from paprle_emulators.dynamixel.__main__ import main
from paprle_emulators.dynamixel.config import RIGS, find_arm, list_arms, read_rig
from paprle_emulators.dynamixel.packets import make_instruction
from paprle_emulators.dynamixel.rig import Rig

DT = 0.001
GOAL, TORQUE, WATCHDOG = 116, 64, 98
RANGE_ERROR = 4


@pytest.fixture
def rig():
    return Rig(read_rig(find_arm("viperx300s")))


@pytest.fixture
def limb(rig):
    return rig.limbs["follower"]


def run(rig, seconds):
    for _ in range(round(seconds / DT)):
        rig.step(DT)


def switch_on(limb):
    for servo in limb.all_servos:
        servo.write(TORQUE, b"\1")


def write_goal(servo, ticks):
    return servo.write(GOAL, ticks.to_bytes(4, "little"))


@pytest.mark.parametrize("name", list_arms())
def test_arms_come_with_the_package_and_rest_without_torque(name):
    rig = Rig(read_rig(find_arm(name)))
    limb = rig.limbs["follower"]
    begin = limb.arm.q.copy()

    run(rig, 0.3)

    assert limb.spec.urdf.is_relative_to(RIGS)
    assert limb.spec.setting == "env.port"
    assert np.abs(limb.arm.q - begin).max() < 0.01
    assert not any(servo.table.get("Torque Enable") for servo in limb.all_servos)


def test_pairs_face_each_other_and_count_alike(limb):
    for place, twin in limb.twins.items():
        first = limb.servos[place]
        assert twin.position == pytest.approx(first.position, abs=1)
        assert twin.table.get("Drive Mode") != first.table.get("Drive Mode")


def test_an_arm_leaves_its_stand_and_follows_goals(rig, limb):
    switch_on(limb)
    waist = limb.servos[0]

    assert write_goal(waist, waist.position + 200) == 0
    run(rig, 1.0)

    assert waist.position == pytest.approx(2048 + 200, abs=4)
    assert rig.report()["goals"][-1]["goal"] == 2248
    assert rig.report()["goals"] == []


def test_a_goal_beyond_the_limits_is_refused_and_not_logged(rig, limb):
    switch_on(limb)

    assert write_goal(limb.servos[1], 100) != 0

    assert rig.report()["goals"] == []


def test_a_tripped_watchdog_holds_the_present_place_and_refuses_goals(rig, limb):
    switch_on(limb)
    waist = limb.servos[0]
    waist.write(WATCHDOG, b"\5")
    rig.exchange("bus", make_instruction(1, 1))
    write_goal(waist, waist.position + 600)
    run(rig, 0.15)  # on its way
    place = waist.position

    run(rig, 1.0)

    assert waist.table.get("Bus Watchdog") == 255
    assert 2048 < place < 2648
    assert abs(waist.position - place) < 120, "it brakes, and stays"
    assert waist.table.get("Goal Position") != 2648
    assert write_goal(waist, 2048) == RANGE_ERROR
    assert waist.write(WATCHDOG, b"\0") == 0
    assert write_goal(waist, 2048) == 0


def test_an_unknown_arm_names_those_that_exist():
    with pytest.raises(ValueError, match="viperx300s, widowx250s, got 'viper'"):
        find_arm("viper")


def test_a_leader_and_an_arm_are_not_started_at_once(capsys):
    assert main(["leader=bench", "follower=viperx300s"]) == 2
    assert "got both" in capsys.readouterr().err


def test_help_lists_the_arms(capsys):
    assert main(["--help"]) == 0
    assert "arms: open_manipulator_x" in capsys.readouterr().out
