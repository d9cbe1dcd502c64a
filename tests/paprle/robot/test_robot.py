from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from public_robots import ROBOTS, load

from paprle.contracts.errors import CommandError, ConfigError
from paprle.contracts.settings.core import (
    GripperSettings,
    LimbSettings,
    RobotSettings,
)
from paprle.contracts.settings.limits import LimitSettings
from paprle.robot import RobotModel
from paprle.robot.chain import Limb

# Two joints and a finger with its copy, on a base that turns without end.
ARM = """<robot name="arm">
  <link name="base"/><link name="upper"/><link name="lower"/><link name="palm"/>
  <link name="left"/><link name="right"/>
  <joint name="pan" type="continuous"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0 0.1"/><axis xyz="0 0 1"/><limit effort="1" velocity="2"/></joint>
  <joint name="lift" type="revolute"><parent link="upper"/><child link="lower"/>
    <origin xyz="0 0 0.2" rpy="0.1 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="2" velocity="3" effort="1"/></joint>
  <joint name="wrist" type="fixed"><parent link="lower"/><child link="palm"/>
    <origin xyz="0.3 0 0"/></joint>
  <joint name="left_finger" type="prismatic"><parent link="palm"/><child link="left"/>
    <axis xyz="0 1 0"/><limit lower="0" upper="0.04" velocity="0.1" effort="1"/></joint>
  <joint name="right_finger" type="prismatic"><parent link="palm"/>
    <child link="right"/><axis xyz="0 -1 0"/>
    <limit lower="0" upper="0.04" velocity="0.1" effort="1"/>
    <mimic joint="left_finger" multiplier="0.5" offset="0.01"/></joint>
</robot>"""


@pytest.fixture
def arm_urdf(tmp_path: Path) -> Path:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


def make(urdf: Path, limb: Mapping[str, Any] | None = None, **keys: Any) -> RobotModel:
    parts: dict[str, Any] = {"base_link": "base", "eef_link": "palm", **(limb or {})}
    limbs = {"arm": LimbSettings(**parts)}
    return RobotModel.from_settings(
        RobotSettings(urdf=urdf.name, **{"limbs": limbs, **keys}), "arm", urdf.parent
    )


def random_q(limb: Limb, seed: int) -> np.ndarray:
    low = np.where(np.isfinite(limb.q_min), limb.q_min, -4.0)
    high = np.where(np.isfinite(limb.q_max), limb.q_max, 4.0)
    return np.random.default_rng(seed).uniform(low, high)


def reference_pose(robot: RobotModel, limb: Limb, q: np.ndarray) -> pin.SE3:
    """Return T_base_eef from pinocchio's own reading of the URDF."""
    model = pin.buildModelFromUrdf(str(robot.urdf_path))
    positions = dict(
        zip(robot.joint_names, limb.put(robot.home, q).tolist(), strict=True)
    )
    for mimic in robot.mimics:
        positions[mimic.joint] = (
            mimic.multiplier * positions[mimic.source] + mimic.offset
        )
    q_model = pin.neutral(model)
    for joint_id in range(1, model.njoints):
        joint, angle = model.joints[joint_id], positions[model.names[joint_id]]
        is_turning = joint.nq == 2
        value = [np.cos(angle), np.sin(angle)] if is_turning else [angle]
        q_model[joint.idx_q : joint.idx_q + joint.nq] = value
    data = model.createData()
    pin.framesForwardKinematics(model, data, q_model)
    base, eef = (
        data.oMf[model.getFrameId(link)] for link in (limb.base_link, limb.eef_link)
    )
    return base.inverse() * eef


@pytest.mark.parametrize("name", ROBOTS)
def test_fk_agrees_with_pinocchios_own_reading_of_the_urdf(name: str) -> None:
    robot = load(name)

    for limb in robot.limbs.values():
        q = random_q(limb, seed=1)
        difference = limb.fk(q).actInv(reference_pose(robot, limb, q))
        np.testing.assert_allclose(pin.log6(difference).vector, 0.0, atol=1e-9)


@pytest.mark.parametrize("name", ROBOTS)
def test_jacobian_agrees_with_finite_differences(name: str) -> None:
    robot = load(name)

    for limb in robot.limbs.values():
        assert_jacobian_is_right(limb, random_q(limb, seed=2))


def assert_jacobian_is_right(limb: Limb, q: np.ndarray) -> None:
    step = 1e-6
    columns = [
        pin.log6(limb.fk(q - step * unit).actInv(limb.fk(q + step * unit))).vector
        for unit in np.eye(len(q))
    ]
    np.testing.assert_allclose(
        limb.jacobian(q), np.array(columns).T / (2 * step), atol=1e-8
    )


@pytest.mark.parametrize("name", ROBOTS)
def test_every_joint_has_one_place_in_all_vectors(name: str) -> None:
    robot = load(name)
    n = len(robot.joint_names)

    info = robot.info
    vectors = (info.home, info.q_min, info.q_max, info.dq_max, info.ddq_max)
    assert all(vector.shape == (n,) for vector in vectors)
    assert all(not vector.flags.writeable for vector in vectors)
    assert np.all((info.q_min <= info.home) & (info.home <= info.q_max))
    assert not {mimic.joint for mimic in info.mimics} & set(robot.joint_names)
    for limb in robot.limbs.values():
        assert limb.model.nq == limb.model.nv == len(limb.joint_names)
        assert tuple(limb.model.names)[1:] == limb.joint_names


def test_a_continuous_joint_is_one_angle_without_limits(arm_urdf: Path) -> None:
    robot = make(arm_urdf)

    assert robot.joint_names == ("pan", "lift", "left_finger")
    assert (robot.q_min[0], robot.q_max[0]) == (-np.inf, np.inf)
    limb = robot.limbs["arm"]
    one_turn_on = np.array([0.3 + 2 * np.pi, 0.5])
    assert limb.fk(np.array([0.3, 0.5])).isApprox(limb.fk(one_turn_on), 1e-12)


@pytest.mark.parametrize(
    "call",
    [
        lambda limb: limb.fk(np.zeros(3)),
        lambda limb: limb.jacobian(np.zeros((2, 1))),
        lambda limb: limb.fk(None),
        lambda limb: limb.jacobian("home"),
        lambda limb: limb.put(np.zeros(3), np.zeros(3)),
        lambda limb: limb.put(np.zeros(2), np.zeros(2)),
        lambda limb: limb.take([0.0]),
        lambda limb: limb.take(1.0),
    ],
)
def test_vectors_that_do_not_fit_are_refused_in_words(arm_urdf: Path, call) -> None:
    with pytest.raises(CommandError, match=r"limb 'arm': expected .* joint positions"):
        call(make(arm_urdf).limbs["arm"])


def test_positions_may_be_any_sequence(arm_urdf: Path) -> None:
    limb = make(arm_urdf).limbs["arm"]

    assert limb.fk([1, 2]) == limb.fk(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(limb.take([1, 2, 3]), [1.0, 2.0])


def test_take_and_put_are_inverse_and_leave_the_others_alone(arm_urdf: Path) -> None:
    robot = make(arm_urdf)
    limb = robot.limbs["arm"]
    q_robot = np.array([1.0, 2.0, 3.0])

    changed = limb.put(q_robot, np.array([7.0, 8.0]))

    np.testing.assert_array_equal(limb.take(changed), [7.0, 8.0])
    np.testing.assert_array_equal(changed, [7.0, 8.0, 3.0])
    np.testing.assert_array_equal(q_robot, [1.0, 2.0, 3.0])


def test_velocity_limit_is_the_smaller_of_setting_and_scaled_urdf(
    arm_urdf: Path,
) -> None:
    limits = LimitSettings(velocity_scale=0.5, dq_max={"pan": 0.7, "lift": 2.9})

    robot = make(arm_urdf, limits=limits)

    np.testing.assert_allclose(robot.dq_max, [0.7, 1.5, 0.05])


def test_a_gripper_accelerates_to_its_top_speed_in_gripper_time(arm_urdf: Path) -> None:
    gripper = GripperSettings(joint="left_finger", closed=0.0, open=0.04)
    limits = LimitSettings(ddq_max=7.0, gripper_time=0.2)

    robot = make(arm_urdf, {"gripper": gripper}, limits=limits)

    np.testing.assert_allclose(robot.ddq_max, [7.0, 7.0, 0.08 / 0.2])
    assert robot.home[2] == 0.04


def test_home_is_given_by_limb_and_hold(arm_urdf: Path) -> None:
    robot = make(arm_urdf, {"home": (0.1, 0.2)}, hold={"left_finger": 0.03})

    np.testing.assert_allclose(robot.home, [0.1, 0.2, 0.03])


def test_default_home_keeps_a_tenth_of_the_range_from_limits(arm_urdf: Path) -> None:
    robot = make(arm_urdf, limits=LimitSettings(q_min={"lift": 1.0}))

    np.testing.assert_allclose(robot.home, [0.0, 1.1, 0.004])


def test_joints_may_be_named_in_any_order(arm_urdf: Path) -> None:
    plain = make(arm_urdf, {"home": (0.1, 0.2)})
    swapped = make(arm_urdf, {"joints": ("lift", "pan"), "home": (0.2, 0.1)})

    assert swapped.limbs["arm"].joint_names == plain.limbs["arm"].joint_names
    np.testing.assert_array_equal(swapped.home, plain.home)


def test_a_joint_left_out_of_the_limb_stands_where_it_is_held(arm_urdf: Path) -> None:
    robot = make(arm_urdf, {"joints": ("lift",)}, hold={"pan": 0.8})
    whole = make(arm_urdf).limbs["arm"]

    pose = robot.limbs["arm"].fk(np.array([0.4]))

    assert pose.isApprox(whole.fk(np.array([0.8, 0.4])), 1e-12)
    assert robot.limbs["arm"].jacobian(np.array([0.4])).shape == (6, 1)


def test_a_limb_may_run_towards_the_root_and_down_again(arm_urdf: Path) -> None:
    forward = make(arm_urdf).limbs["arm"]
    backward = make(arm_urdf, {"base_link": "palm", "eef_link": "base"}).limbs["arm"]
    q = np.array([0.3, -0.7])

    assert backward.joint_names == ("lift", "pan")
    assert backward.fk(q[::-1].copy()).isApprox(forward.fk(q).inverse(), 1e-12)
    assert_jacobian_is_right(backward, q[::-1].copy())


def test_a_copied_joint_in_a_limb_moves_with_its_source(tmp_path: Path) -> None:
    path = tmp_path / "palletiser.urdf"
    path.write_text(
        ARM.replace(
            '<joint name="wrist" type="fixed">',
            '<joint name="wrist" type="revolute"><axis xyz="0 1 0"/>'
            '<limit lower="-2" upper="2" velocity="1" effort="1"/>'
            '<mimic joint="lift" multiplier="-1"/>',
        )
    )
    limb = make(path).limbs["arm"]

    level = limb.fk(np.array([0.0, 0.0])).rotation

    assert limb.joint_names == ("pan", "lift")
    np.testing.assert_allclose(limb.fk(np.array([0.0, 0.9])).rotation, level, atol=1e-9)
    assert_jacobian_is_right(limb, np.array([0.3, 0.9]))


def test_a_copy_nearer_to_the_base_than_its_source_is_refused(arm_urdf: Path) -> None:
    before = '<joint name="pan" type="continuous">'
    arm_urdf.write_text(ARM.replace(before, f'{before}<mimic joint="lift"/>'))

    with pytest.raises(ConfigError, match="got pan before lift"):
        make(arm_urdf)


LIMB: dict[str, Any] = {"base_link": "base", "eef_link": "palm"}
FINGER = GripperSettings(joint="left_finger", closed=0.0, open=0.04)


@pytest.mark.parametrize(
    ("limb", "keys", "message"),
    [
        ({"base_link": "bas"}, {}, "limbs.arm.base_link: expected a link"),
        ({"base_link": "bas"}, {}, "did you mean 'base'?"),
        ({"eef_link": "base"}, {}, "expected movable joints between base and base"),
        ({"joints": ("pan", "lif")}, {}, "did you mean 'lift'?"),
        ({"joints": ("pan", "pan")}, {}, "once, got 'pan'"),
        ({"home": (0.0,)}, {}, "expected 2 positions (pan, lift), got 1"),
        ({"home": (0.0, 3.0)}, {}, "limbs.arm.home: expected lift within -1 … 2"),
        (
            {"gripper": GripperSettings(joint="right_finger", closed=0.0, open=0.04)},
            {},
            "it mimics left_finger: name that one",
        ),
        (
            {"gripper": GripperSettings(joint="left_finger", closed=0.0, open=0.0)},
            {},
            "expected closed and open to differ",
        ),
        (
            {"gripper": GripperSettings(joint="left_finger", closed=-1.0, open=0.04)},
            {},
            "gripper.closed: expected within 0 … 0.04, got -1",
        ),
        (
            {"gripper": GripperSettings(joint="left_finger", closed=0.0, open=1.0)},
            {},
            "gripper.open: expected left_finger within 0 … 0.04, got 1",
        ),
        (
            {},
            {"limbs": {n: LimbSettings(**LIMB, gripper=FINGER) for n in ("a", "b")}},
            "limbs.b: expected joints of no other limb, got pan, which limbs.a has",
        ),
        (
            {"joints": ("pan", "lift", "left_finger"), "eef_link": "left"}
            | {"gripper": FINGER},
            {},
            "expected a joint that is not in limbs.arm.joints, got left_finger",
        ),
        ({}, {"hold": {"pan": 0.0}}, "hold.pan: expected a joint in no limb"),
        ({}, {"hold": {"left_finger": 9.0}}, "hold.left_finger: expected left_finger"),
        ({}, {"ignore_collisions": (("base", "x"),)}, "got 'x'"),
    ],
)
def test_settings_that_do_not_fit_the_urdf_are_refused(
    arm_urdf: Path, limb: dict[str, Any], keys: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError) as error:
        make(arm_urdf, limb, **keys)

    assert message in str(error.value)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"q_min": {"lift": -1.5}}, "within the URDF's -1 … 2, got -1.5 … 2"),
        ({"q_max": {"lift": 2.5}}, "settings may only tighten"),
        ({"q_min": {"lift": 1.0}, "q_max": {"lift": 0.5}}, "expected q_min < q_max"),
        ({"dq_max": {"lift": 3.5}}, "at most the URDF's 3, got 3.5"),
        ({"dq_max": {"lift": -1.0}}, "limits.dq_max.lift: expected above 0"),
        ({"dq_max": {"lft": 1.0}}, "did you mean 'lift'?"),
        ({"dddq_max": 1e-6}, "limits.dddq_max: expected at least"),
    ],
)
def test_limits_only_tighten(
    arm_urdf: Path, limits: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError) as error:
        make(arm_urdf, limits=LimitSettings(**limits))

    assert message in str(error.value)


@pytest.mark.parametrize("velocity", ["", 'velocity="0"', 'velocity="-2"'])
def test_a_missing_velocity_limit_is_told_with_joint_and_key(
    arm_urdf: Path, velocity: str
) -> None:
    arm_urdf.write_text(ARM.replace('velocity="3"', velocity))

    with pytest.raises(ConfigError) as error:
        make(arm_urdf)

    assert "joint lift: expected a velocity limit above 0" in str(error.value)
    assert "set limits.dq_max.lift" in str(error.value)
    robot = make(arm_urdf, limits=LimitSettings(dq_max={"lift": 0.4}))
    assert robot.dq_max[1] == 0.4


def test_all_problems_are_listed_at_once(arm_urdf: Path) -> None:
    with pytest.raises(ConfigError) as error:
        make(
            arm_urdf,
            {"home": (0.0, 5.0)},
            limits=LimitSettings(q_max={"lift": 9.0}, dq_max={"x": 1.0}),
            hold={"nobody": 0.0},
        )

    assert len(error.value.problems) == 4


def test_a_robot_without_joints_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "stone.urdf"
    path.write_text('<robot name="stone"><link name="a"/></robot>')

    with pytest.raises(ConfigError, match="expected movable joints, got none"):
        RobotModel.from_urdf(path)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["panda", "talos"])
def test_the_order_of_the_file_changes_nothing(
    name: str, seed: int, tmp_path: Path
) -> None:
    robot = load(name)
    root = ET.parse(robot.urdf_path).getroot()
    elements = list(root)
    Random(seed).shuffle(elements)
    root[:] = elements
    path = tmp_path / "shuffled.urdf"
    path.write_text(ET.tostring(root, encoding="unicode"))

    shuffled = RobotModel.from_urdf(path)

    def by_name(r: RobotModel) -> dict[str, tuple[float, ...]]:
        columns = (r.q_min, r.q_max, r.dq_max, r.home)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return dict(zip(r.joint_names, rows, strict=True))

    assert by_name(shuffled) == by_name(robot)
    assert set(shuffled.limbs) == set(robot.limbs)
    for limb in robot.limbs.values():
        other = shuffled.limbs[limb.name]
        assert other.joint_names == limb.joint_names
        assert other.fk(limb.home).isApprox(limb.fk(limb.home), 1e-12)


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(
    q=st.tuples(st.floats(-10, 10), st.floats(-1, 2)),
    axis=st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda a: np.linalg.norm(a) > 0.1),
)
def test_jacobian_is_right_for_any_axis(
    arm_urdf: Path, q: tuple[float, float], axis: tuple[float, ...]
) -> None:
    text = " ".join(map(str, axis))
    arm_urdf.write_text(ARM.replace('<axis xyz="0 0 1"/>', f'<axis xyz="{text}"/>'))

    assert_jacobian_is_right(make(arm_urdf).limbs["arm"], np.array(q))
