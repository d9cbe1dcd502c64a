"""Robots whose grippers mimic without limits have links and frames like others."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from small_arms import write_arm

from paprle.contracts.urdf.link_poses import LinkPoses
from paprle.contracts.urdf.models import make_pin_model
from paprle.recording.frames import FrameMessages
from paprle.robot import RobotModel

FOLLOWER = (
    '<joint name="j7" type="{kind}"><parent link="link6"/><child link="link7"/>'
    '<origin xyz="0 0 0.1"/><axis xyz="0 1 0"/><mimic joint="j6" multiplier="-1"/>'
    "{limit}</joint>"
    '<link name="link7"/>'
)


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize(
    "limit", ["", '<limit lower="-1" upper="1"/>', '<limit velocity="1"/>']
)
def test_links_beyond_a_mimic_joint_without_limits_are_placed(kind, limit, tmp_path):
    more = FOLLOWER.format(kind=kind, limit=limit)
    info = RobotModel.from_urdf(write_arm(tmp_path / "arm.urdf", more=more)).info
    poses = LinkPoses(info)

    poses.update(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.5]))

    T_link6_link7 = poses.place("link6").actInv(poses.place("link7"))
    if kind == "revolute":
        assert T_link6_link7.rotation[0, 2] == pytest.approx(np.sin(-0.5))
    else:
        np.testing.assert_allclose(T_link6_link7.translation, [0, -0.5, 0.1])


def test_a_recording_of_such_a_robot_has_frames(tmp_path):
    more = FOLLOWER.format(kind="revolute", limit="")
    urdf = write_arm(tmp_path / "arm.urdf", more=more)
    info = RobotModel.from_urdf(urdf).info
    mimic = {"joint": "j7", "source": "j6", "multiplier": -1.0, "offset": 0.0}
    header = {"urdf": urdf.read_text(), "robot": {"mimics": [mimic]}}
    layout = SimpleNamespace(joint_names=info.joint_names)

    frames = FrameMessages(layout, header)

    assert frames.is_known


def test_a_text_that_is_no_urdf_is_refused():
    with pytest.raises(ValueError, match="expected a URDF"):
        make_pin_model("<robot")
