"""SO-101 and SO-100: kinematics and bodies against what their makers publish."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from public_robots import PUBLIC
from shared_data import require

from paprle.robot import RobotModel

ROOT = Path(__file__).resolve().parents[2]
JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll")
PUBLISHED = PUBLIC / "so_arm_description/urdf"
# spec: TheRobotStudio/SO-ARM100 @ fda892c, Simulation: joints [rad] from the middle of
# their ranges; jaws' middle, direction out of the hand, origin of the moving jaw, [m]
POSES = {
    "so101": (
        (
            (0, 0, 0, 0, 0),
            (0.3913615, -9.2e-06, 0.2264697),
            (1, 9.9e-06, 9.2e-06),
            (0.3166337, 0.0176182, 0.2554614),
        ),
        (
            (-0.66, -0.12, -1.13, 0.07, -0.27),
            (0.1560331, 0.093604, 0.5057096),
            (0.3009178, 0.233548, 0.9246101),
            (0.1040269, 0.0649582, 0.4490505),
        ),
        (
            (-1.29, -1.2, 1.46, 0.58, -0.15),
            (0.0842153, 0.1615599, 0.0300678),
            (0.1849627, 0.6413322, -0.7446353),
            (0.0642677, 0.1396595, 0.1066051),
        ),
        (
            (0.42, -0.69, -0.59, -1.28, -1.34),
            (-0.0659308, 0.055055, 0.4408159),
            (-0.7629721, 0.3407163, 0.5493505),
            (-0.0307147, 0.0128352, 0.3798832),
        ),
        (
            (0.92, 0.94, -1.49, -0.51, -1.23),
            (0.2446552, -0.2582022, 0.3730131),
            (0.2961681, -0.3889421, 0.872358),
            (0.1915694, -0.2238656, 0.3206837),
        ),
        (
            (-0.1, 0.35, 0.15, -1.1, 0.61),
            (0.3888424, 0.0305293, 0.2371168),
            (0.8212064, 0.0824043, 0.5646499),
            (0.3166976, 0.0545035, 0.2062),
        ),
        (
            (0.34, -0.1, -0.61, 1.26, -1.25),
            (0.3056998, -0.0865776, 0.238064),
            (0.8037272, -0.2842997, -0.5226818),
            (0.2510661, -0.09054, 0.2991782),
        ),
        (
            (-1.07, -0.36, -0.72, 0.35, 0.58),
            (0.1382417, 0.1725215, 0.4544367),
            (0.3577649, 0.6536651, 0.6668779),
            (0.0799632, 0.1298475, 0.4154748),
        ),
        (
            (0.61, 0.82, -0.97, 0.74, -0.76),
            (0.3645366, -0.2210641, 0.1049754),
            (0.6810867, -0.4760143, -0.5563554),
            (0.3246397, -0.2019593, 0.1741037),
        ),
        (
            (0.11, -0.84, 0.94, -1.18, -0.21),
            (0.2197566, -0.0183392, 0.3410989),
            (0.4684724, -0.0517372, 0.8819619),
            (0.1578993, -0.0002425, 0.2902887),
        ),
    ),
    "so100": (
        (
            (0, 0, 0, 0, 0),
            (0.3988987, 0, 0.2288722),
            (1, 0, 6e-06),
            (0.3231985, -1e-07, 0.2569717),
        ),
        (
            (0.4, 0.59, -1.21, 1.45, -0.63),
            (0.3478957, -0.1229249, 0.157052),
            (0.6216062, -0.2628089, -0.7379277),
            (0.3098256, -0.1248033, 0.2282365),
        ),
        (
            (-0.16, -0.59, -1.38, -0.77, -0.52),
            (-0.1634984, -0.029703, 0.4193176),
            (-0.9086855, -0.1466428, 0.3908793),
            (-0.1018966, -0.033905, 0.3672825),
        ),
        (
            (0.23, -1.29, 1.29, -0.9, 0.09),
            (0.2113808, -0.0396397, 0.302898),
            (0.605236, -0.1417132, 0.7833305),
            (0.1447949, -0.0214553, 0.2609963),
        ),
        (
            (-0.43, -0.42, 1.23, 1.17, 0.33),
            (0.0793969, 0.0128671, -0.0049169),
            (-0.3616527, -0.1658642, -0.9174401),
            (0.1251471, 0.0438666, 0.0539563),
        ),
        (
            (-0.66, -1.04, -0.1, -0.99, -0.01),
            (-0.0172525, -0.0483674, 0.4648671),
            (-0.419105, -0.3252653, 0.8476754),
            (-0.0041702, -0.0385705, 0.3857914),
        ),
        (
            (-1.29, -1.45, 0.09, -0.32, 1.49),
            (0.03296, -0.0708434, 0.4526781),
            (-0.0302087, -0.104718, 0.994043),
            (0.0077107, -0.0573208, 0.3771817),
        ),
        (
            (-0.38, 0.1, -0.33, 0.82, -0.37),
            (0.349558, 0.1246411, 0.1687822),
            (0.7716686, 0.3082128, -0.5563564),
            (0.3084477, 0.0972791, 0.2326677),
        ),
        (
            (-0.73, -0.13, 0.91, 0.07, 0.54),
            (0.2297078, 0.1596687, 0.0182483),
            (0.4918071, 0.4401226, -0.7512775),
            (0.1963366, 0.1491921, 0.0910267),
        ),
        (
            (0.31, -0.79, -0.05, -0.33, 0.89),
            (0.1610257, -0.0435492, 0.4676099),
            (0.371549, -0.1190192, 0.9207528),
            (0.1240518, -0.0087768, 0.4048093),
        ),
    ),
}
# Link names of the SO-100, and its joints: sign and angle at our zero.
SO100_LINKS = {
    "shoulder_link": "shoulder",
    "upper_arm_link": "upper_arm",
    "lower_arm_link": "lower_arm",
    "wrist_link": "wrist",
    "gripper_link": "gripper",
    "moving_jaw_link": "jaw",
}
SO101_LINKS = {
    **{link: link for link in SO100_LINKS if "jaw" not in link},
    "moving_jaw_link": "moving_jaw_so101_v1_link",
    "gripper_frame_link": "gripper_frame_link",
}
SO100_ZERO = {
    "shoulder_pan": (-1.0, 0.0),
    "shoulder_lift": (1.0, 1.8),
    "elbow_flex": (1.0, -1.57079),
    "wrist_flex": (1.0, 1.0 - 1.570796),
}
TURN = {  # T_base_their_base
    "so101": np.eye(3),
    "so100": pin.rpy.rpyToMatrix(0.0, 0.0, math.pi / 2),  # theirs reaches along -y
}


def load(name: str) -> RobotModel:
    return RobotModel.from_yaml(ROOT / f"configs/follower/{name}.yaml")


class Placed:
    """A URDF's links at given joints, read by pinocchio."""

    def __init__(self, path: Path, q: dict[str, float]) -> None:
        self._model = pin.buildModelFromUrdf(str(path))
        self._data = self._model.createData()
        full = pin.neutral(self._model)
        for joint, value in q.items():
            full[self._model.joints[self._model.getJointId(joint)].idx_q] = value
        pin.framesForwardKinematics(self._model, self._data, full)

    def __getitem__(self, link: str) -> pin.SE3:
        return self._data.oMf[self._model.getFrameId(link, pin.FrameType.BODY)]


@pytest.mark.parametrize(
    ("name", "q", "p_tool", "out", "p_jaw"),
    [(name, *row) for name, rows in POSES.items() for row in rows],
)
def test_hand_and_jaw_are_where_the_makers_files_have_them(name, q, p_tool, out, p_jaw):
    T = load(name).limbs["arm"].fk(np.array(q))
    placed = Placed(ROOT / f"urdf/{name}/robot.urdf", dict(zip(JOINTS, q, strict=True)))

    np.testing.assert_allclose(T.translation, p_tool, atol=1e-6)
    np.testing.assert_allclose(T.rotation[:, 0], out, atol=1e-5)
    np.testing.assert_allclose(placed["moving_jaw_link"].translation, p_jaw, atol=1e-6)


@pytest.mark.parametrize("name", ["so101", "so100"])
@pytest.mark.parametrize("seed", range(20))
def test_every_link_is_where_the_published_file_has_it(name, seed):
    theirs = require(PUBLISHED / f"{name}.urdf")
    rng = np.random.default_rng(seed)
    q = {joint: rng.uniform(-1.5, 1.5) for joint in (*JOINTS, "gripper")}
    zero = SO100_ZERO if name == "so100" else {}
    ours = Placed(ROOT / f"urdf/{name}/robot.urdf", q)
    published = Placed(
        theirs,
        {j: zero.get(j, (1, 0))[0] * v + zero.get(j, (1, 0))[1] for j, v in q.items()},
    )

    links = SO100_LINKS if name == "so100" else SO101_LINKS
    for link, their_link in links.items():
        T = pin.SE3(TURN[name], np.zeros(3)) * published[their_link]
        left = T.actInv(ours[link])
        assert np.linalg.norm(left.translation) < 1e-6, link
        assert np.linalg.norm(pin.log3(left.rotation)) < 1e-6, link


def test_each_of_two_arms_stands_beside_the_middle_and_moves_as_one():
    one, two = load("so101").limbs["arm"], load("so101_2arm")
    placed = Placed(ROOT / two.info.urdf_path, {})
    q = np.array([0.3, -0.4, 0.5, 0.6, -0.7])

    for side, y in {"left": 0.25, "right": -0.25}.items():
        base = placed[f"{side}_base_link"]
        np.testing.assert_allclose(base.homogeneous[:3, 3], [0.0, y, 0.0])
        np.testing.assert_allclose(base.rotation, np.eye(3))
        np.testing.assert_allclose(
            two.limbs[side].fk(q).homogeneous, one.fk(q).homogeneous, atol=1e-12
        )


@pytest.mark.parametrize("name", ["so101", "so100"])
def test_the_gate_blocks_no_opening_of_the_jaw(name):
    robot = load(name)
    model = robot.make_collision_model({})
    jaw, roll = (robot.joint_names.index(j) for j in ("gripper", "wrist_roll"))
    q = robot.home.copy()

    openings = np.linspace(robot.q_min[jaw], robot.q_max[jaw], 7)
    for q[[roll, jaw]] in itertools.product(np.linspace(-2.6, 2.6, 9), openings):
        assert not model.find_collisions(q)
