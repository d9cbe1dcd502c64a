"""Limits of acceleration and jerk by joint: of settings, and of the URDF itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paprle.contracts.errors import ConfigError
from paprle.contracts.settings.core import LimbSettings, RobotSettings
from paprle.contracts.settings.limits import LimitSettings
from paprle.robot import RobotModel

ARM = """<robot name="arm" version="1.2">
  <link name="base"/><link name="upper"/><link name="palm"/>
  <joint name="pan" type="revolute"><parent link="base"/><child link="upper"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="2" effort="1" {of_pan}/>
  </joint>
  <joint name="lift" type="revolute"><parent link="upper"/><child link="palm"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="2" velocity="3" effort="1"/></joint>
</robot>"""


def make(folder: Path, of_pan: str = "", **limits: Any) -> RobotModel:
    (folder / "arm.urdf").write_text(ARM.format(of_pan=of_pan))
    limbs = {"arm": LimbSettings(base_link="base", eef_link="palm")}
    settings = RobotSettings(
        urdf="arm.urdf", limbs=limbs, limits=LimitSettings(**limits)
    )
    return RobotModel.from_settings(settings, "arm", folder)


@pytest.mark.parametrize(
    ("of_pan", "limits", "A", "J"),
    [
        ("", {}, [10.0, 10.0], [5000.0, 5000.0]),
        ("", {"ddq_max_joints": {"lift": 4.0}}, [10.0, 4.0], [5000.0, 2000.0]),
        ("", {"dddq_max_joints": {"lift": 300.0}}, [10.0, 10.0], [5000.0, 300.0]),
        ('acceleration="6" deceleration="5"', {}, [5.0, 10.0], [2500.0, 5000.0]),
        ('jerk="700"', {}, [10.0, 10.0], [700.0, 5000.0]),
        ('jerk="700"', {"dddq_max": 400.0}, [10.0, 10.0], [400.0, 400.0]),
        ('acceleration="inf" jerk="inf"', {}, [10.0, 10.0], [5000.0, 5000.0]),
    ],
)
def test_each_joint_has_the_least_of_what_is_told(tmp_path, of_pan, limits, A, J):
    robot = make(tmp_path, of_pan, **limits)

    assert robot.ddq_max.tolist() == A
    assert robot.info.dddq_max.tolist() == J


def test_no_common_setting_lifts_what_a_joint_needs(tmp_path):
    robot = make(
        tmp_path,
        'acceleration="6" jerk="700"',
        ddq_max=50.0,
        dddq_max=1e9,
        ddq_max_joints={"lift": 7.5},
        dddq_max_joints={"lift": 3750.0},
    )

    assert robot.ddq_max.tolist() == [6.0, 7.5]
    assert robot.info.dddq_max.tolist() == [700.0, 3750.0]


@pytest.mark.parametrize(
    ("of_pan", "limits", "message"),
    [
        ('jerk="700"', {"dddq_max_joints": {"pan": 701.0}}, "URDF's 700, got 701"),
        (
            'acceleration="6"',
            {"ddq_max_joints": {"pan": 7.0}},
            "limits.ddq_max_joints.pan: expected at most the URDF's 6, got 7; settings "
            "may only tighten",
        ),
        ("", {"ddq_max_joints": {"lft": 7.0}}, "did you mean 'lift'?"),
        (
            "",
            {"dddq_max_joints": {"lift": 19.0}},
            "limits.dddq_max_joints.lift: expected at least 20, which turns the "
            "acceleration around within 1 s, got 19",
        ),
        ('acceleration="-6"', {}, "joint pan: acceleration: expected above 0, got -6"),
        ('jerk="high"', {}, "joint pan: jerk: expected a number, finite, got 'high'"),
    ],
)
def test_a_wrong_limit_is_reported_with_its_key(tmp_path, of_pan, limits, message):
    with pytest.raises(ConfigError) as error:
        make(tmp_path, of_pan, **limits)

    assert message in str(error.value)
