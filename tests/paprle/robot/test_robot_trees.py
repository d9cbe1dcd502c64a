"""Any tree of joints, however odd, makes a robot that keeps its promises."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paprle.robot import RobotModel
from paprle.robot.discovery.limbs import find_limbs
from paprle.robot.urdf import read_urdf

KINDS = ("revolute", "continuous", "prismatic", "fixed")
WORDS = (
    "arm",
    "left_hip",
    "r_finger",
    "wheel",
    "head",
    "tcp",
    "gripper",
    "camera",
    "x",
)


@st.composite
def trees(draw: st.DrawFn) -> str:
    n_links = draw(st.integers(2, 14))
    body = '<link name="l0"/>'
    movable: list[str] = []
    for k in range(1, n_links):
        parent = draw(st.integers(0, k - 1))
        kind = "revolute" if k == 1 else draw(st.sampled_from(KINDS))
        name = f"{draw(st.sampled_from(WORDS))}{k}"
        axis = draw(st.sampled_from(("1 0 0", "0 1 0", "0 0 -1", "1 2 3")))
        copied = draw(st.sampled_from([None, *movable])) if kind != "fixed" else None
        mimic = f'<mimic joint="{copied}" multiplier="-0.5"/>' if copied else ""
        if kind != "fixed" and copied is None:
            movable.append(name)
        body += (
            f'<link name="l{k}"><collision><geometry><sphere radius="0.01"/></geometry>'
            f'</collision></link><joint name="{name}" type="{kind}">'
            f'<parent link="l{parent}"/><child link="l{k}"/>'
            f'<origin xyz="0.1 0.02 {0.1 * k}" rpy="0.3 {0.2 * k} 0"/>'
            f'<axis xyz="{axis}"/><limit lower="-1" upper="0.5" velocity="1"/>{mimic}'
            "</joint>"
        )
    return f'<robot name="r">{body}</robot>'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("trees")


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(text=trees(), seed=st.integers(0, 99))
def test_limbs_of_any_tree_are_disjoint_and_their_kinematics_right(
    folder: Path, text: str, seed: int
) -> None:
    path = folder / "tree.urdf"
    path.write_text(text)
    robot = RobotModel.from_urdf(path)

    taken = [name for limb in robot.limbs.values() for name in limb.joint_names]
    taken += [limb.gripper.joint for limb in robot.limbs.values() if limb.gripper]
    assert len(taken) == len(set(taken))
    assert set(taken) <= set(robot.joint_names)
    assert np.all((robot.q_min <= robot.home) & (robot.home <= robot.q_max))
    rng = np.random.default_rng(seed)
    for limb in robot.limbs.values():
        q, step = rng.uniform(-1.0, 0.5, len(limb.joint_names)), 1e-6
        columns = [
            pin.log6(limb.fk(q - step * e).actInv(limb.fk(q + step * e))).vector
            for e in np.eye(len(q))
        ]
        numeric = np.array(columns).T / (2 * step)
        np.testing.assert_allclose(limb.jacobian(q), numeric, atol=1e-8)
    robot.find_collision(robot.home)
    assert robot.min_clearance(robot.home) > -1.0


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(text=trees())
def test_the_parts_of_a_limb_exist_and_its_joints_lie_between_its_links(
    folder: Path, text: str
) -> None:
    path = folder / "tree.urdf"
    path.write_text(text)
    urdf = read_urdf(path)

    for limb in find_limbs(urdf):
        on_way = [joint.name for joint in urdf.chain_to(limb.eef_link)]
        assert set(limb.joint_names) <= set(on_way)
        assert limb.base_link in urdf.links
