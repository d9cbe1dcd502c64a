from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import get_type_hints

import numpy as np
import pytest

from paprle.contracts.errors import RecordingError
from paprle.contracts.robot_info import JOINT_LIMITS, JOINT_VECTORS, RobotInfo, Vec
from paprle.contracts.types import readonly
from paprle.oracle import JudgedLimits
from paprle.recording.header import robot_from_dict, robot_to_dict
from paprle.recording.header_check import check_header
from paprle.testing.robots import make_robot_info

ROBOT = make_robot_info(3, dddq_max=1e4)
HEADER = {
    **dict.fromkeys(("leader", "follower", "env"), "x"),
    "wall_offset_ns": 0,
    "leader_info": {"limbs": [], "joint_names": {}, "look_ahead": 0.0},
}


def test_the_table_has_every_vector_of_a_robot():
    hints = get_type_hints(RobotInfo)
    vectors = {name for name, hint in hints.items() if hint in (Vec, Vec | None)}

    assert {row.name for row in JOINT_VECTORS} == vectors
    optional = {row.name for row in JOINT_VECTORS if row.is_optional}
    assert optional == {name for name in vectors if hints[name] == Vec | None}


@pytest.mark.parametrize("row", JOINT_VECTORS, ids=lambda row: row.name)
def test_a_vector_comes_back_from_a_header(row):
    n = len(ROBOT.joint_names)
    values = readonly([row.unlimited, *np.arange(1.0, n)])
    robot = replace(ROBOT, **{row.name: values})

    told = json.loads(json.dumps(robot_to_dict(robot), allow_nan=False))
    got = robot_from_dict(told)

    assert np.array_equal(getattr(got, row.name), values, equal_nan=True)
    assert not getattr(got, row.name).flags.writeable


def test_a_recording_from_before_an_optional_limit_is_read():
    told = robot_to_dict(ROBOT)
    del told["dddq_max"]

    check_header({**HEADER, "robot": told}, "old.mcap")

    assert robot_from_dict(told).dddq_max is None


@pytest.mark.parametrize("row", JOINT_VECTORS, ids=lambda row: row.name)
def test_a_header_with_one_number_too_few_names_the_vector(row):
    told = robot_to_dict(ROBOT)
    told[row.name] = told[row.name][:-1]

    with pytest.raises(RecordingError, match=f"robot.{row.name}"):
        check_header({**HEADER, "robot": told}, "short.mcap")


def test_the_judge_takes_every_limit_of_a_robot():
    limits = JudgedLimits.of(ROBOT, 0.005)

    for name in JOINT_LIMITS:
        assert np.array_equal(getattr(limits, name), getattr(ROBOT, name)), name
    assert set(JOINT_LIMITS) <= {part.name for part in fields(JudgedLimits)}


def test_the_judge_takes_other_limits_in_place_of_a_robots_own():
    limits = JudgedLimits.of(ROBOT, 0.005, dddq_max=None, q_max=ROBOT.q_max + 1.0)

    assert not limits.knows("M5")
    assert np.array_equal(limits.q_max, ROBOT.q_max + 1.0)
