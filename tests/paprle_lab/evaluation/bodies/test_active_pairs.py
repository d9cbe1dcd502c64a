"""The report says which bodies were kept apart, not only which came nearest."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from paprle.contracts.types import Vec
from paprle.gate.reasons import Reason
from paprle.robot import RobotModel
from paprle_lab.evaluation.bodies.active_pairs import find_kept

# Three balls of 5 cm on slides; at home the right one is 12 mm from the middle one.
BALL = '<collision><geometry><sphere radius="0.05"/></geometry></collision>'
SLIDE = (
    '<joint name="{0}" type="prismatic"><parent link="base"/><child link="{0}_link"/>'
    '<origin xyz="{1} 0 0"/><axis xyz="1 0 0"/>'
    '<limit lower="-0.2" upper="0.2" velocity="1" effort="1"/></joint>'
    f'<link name="{{0}}_link">{BALL}</link>'
)
SLIDES = "".join(SLIDE.format(*one) for one in (("a", -0.3), ("b", 0.0), ("c", 0.112)))
URDF = f'<robot name="r"><link name="base"/>{SLIDES}</robot>'
GATE = np.dtype(
    [
        ("stamp_ns", "i8"),
        ("reasons", "u8"),
        ("q_cmd", "f8", (3,)),
        ("q_des", "f8", (3,)),
        ("held", "S96"),
    ]
)


@pytest.fixture
def find(tmp_path: Path):
    (tmp_path / "r.urdf").write_text(URDF)
    info = RobotModel.from_urdf(tmp_path / "r.urdf").info

    def call(
        q: Vec, q_des: Vec, reason: Reason = Reason.CLEARANCE, held: bytes = b""
    ) -> list[str]:
        rows = np.zeros(1, GATE)
        rows["held"] = held
        rows["q_cmd"], rows["q_des"], rows["reasons"] = q, q_des, 1 << reason
        gate = {"clearance_self": 0.01, "clearance_scene": 0.02}
        return find_kept(
            SimpleNamespace(
                config={"gate": gate}, gate=rows, robot_info=info, urdf=URDF
            )
        )

    return call


def test_a_pair_that_stands_near_anyway_is_not_the_cause(find) -> None:
    (kept,) = find([0.188, 0.0, 0.0], [0.2, 0.0, 0.0])

    assert kept == "'a_link' of arm_1 is kept clear of 'b_link' of arm_2"


def test_a_pair_that_comes_no_nearer_is_named_without_another_cause(find) -> None:
    (kept,) = find([0.0, 0.0, 0.0], [0.0, 0.0, 0.0])

    assert kept == "'b_link' of arm_2 is kept clear of 'c_link' of arm_3"


def test_cause_that_the_gate_recorded_counts(find) -> None:
    held = b"arm_1: 'a_link' is kept clear of 'c_link'      "

    (kept,) = find([0.188, 0.0, 0.0], [0.2, 0.0, 0.0], held=held)

    assert kept == "'a_link' is kept clear of 'c_link'"


def test_a_gate_that_did_not_act_kept_nothing_apart(find) -> None:
    assert find([0.188, 0.0, 0.0], [0.2, 0.0, 0.0], Reason.VELOCITY) == []
