"""Joint positions of driven arms by servo angles, and the limits of both."""

from __future__ import annotations

import numpy as np
import pytest
from driven_rig import LIMB, make_rig
from dynamixel_arm import resolve_robot

from paprle.contracts.kit.followers.servo_arm import list_joints
from paprle.followers.dynamixel.arm import make_specs
from paprle.followers.dynamixel.joint_map import (
    find_tight_limits,
    make_map,
)

pytest.importorskip("dynamixel_sdk")
ARMS = ("viperx300s", "widowx250s", "open_manipulator_x")


@pytest.fixture(params=ARMS)
def known(request):
    robot, config = resolve_robot(request.param)
    return request.param, robot, config


def test_positions_are_those_of_the_emulated_arm(known):
    name, robot, config = known
    limb = make_rig(name).limbs[LIMB]

    found = make_map(config, robot.limbs[0])

    angles = np.array([servo.angle for servo in limb.servos])
    assert found.to_joints(angles) == pytest.approx(limb.arm.q, abs=1e-3)
    q = limb.arm.q
    assert found.to_servos(found.to_joints(angles)) == pytest.approx(angles)
    assert np.abs(q).max() < 4.0


def test_servos_are_those_of_the_emulated_arm(known):
    name, robot, config = known
    limb = make_rig(name).limbs[LIMB]

    specs = make_specs(config, robot.limbs[0])

    assert list_joints(robot.limbs[0]) == limb.joints
    for place, (spec, servo) in enumerate(zip(specs, limb.servos, strict=True)):
        twin = limb.twins.get(place)
        assert (spec.id, spec.model) == (servo.number, servo.model.name)
        assert spec.twin == (None if twin is None else twin.number)


def test_limits_of_servos_hold_those_of_the_robot(known):
    name, robot, config = known
    limb = make_rig(name).limbs[LIMB]
    names = list_joints(robot.limbs[0])
    ids = [robot.joint_names.index(one) for one in names]
    unit = 2 * np.pi / 4096
    ranges = []
    for servo in limb.servos:
        way = -1 if servo.table.get("Drive Mode") & 1 else 1
        ends = [
            way * (servo.table.get(f"{which} Position Limit") - 2048) * unit
            for which in ("Min", "Max")
        ]
        ranges.append((min(ends), max(ends)))
    limits = robot.q_min[ids], robot.q_max[ids]
    found = make_map(config, robot.limbs[0])

    assert find_tight_limits(names, found, ranges, limits) == {}

    ranges[1] = -0.1, 0.1
    tight = find_tight_limits(names, found, ranges, limits)
    assert set(tight) == {
        f"follower.limits.q_min.{names[1]}",
        f"follower.limits.q_max.{names[1]}",
    }
