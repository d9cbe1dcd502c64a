"""From odd URDFs to models that stand, follow, and grip."""

from pathlib import Path

import numpy as np
import pytest
from shared_data import find_shared

mujoco = pytest.importorskip("mujoco")

from paprle.hardware.mujoco.mechanism import Mechanism, MimicJoint, ModelOptions  # noqa: E402
from paprle.hardware.mujoco.model import build_model  # noqa: E402
from paprle.hardware.mujoco.robot import compute_lag, set_home  # noqa: E402
from paprle.hardware.mujoco.urdf import read_plain_urdf  # noqa: E402

pytestmark = pytest.mark.sim

ROOT = Path(__file__).resolve().parents[3]

_MASS = (
    '<inertial><origin xyz="{x} 0 0"/><mass value="{m}"/><inertia ixx="0.002" '
    'ixy="0" ixz="0" iyy="0.002" iyz="0" izz="0.002"/></inertial>'
)


def _link(name, body="", x=0.1, m=1.0):
    return f'<link name="{name}">{_MASS.format(x=x, m=m)}{body}</link>'


def _box(size, z=0.0, x=0.0):
    return (
        f'<collision><origin xyz="{x} 0 {z}"/><geometry><box size="{size}"/>'
        "</geometry></collision>"
    )


def _joint(name, parent, child, kind="revolute", axis="0 1 0", xyz="0 0 0", extra=""):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/>'
        f'<child link="{child}"/><origin xyz="{xyz}"/><axis xyz="{axis}"/>'
        f'<limit lower="-2" upper="2" effort="50" velocity="2"/>{extra}</joint>'
    )


_MESH = (
    '<visual><geometry><mesh filename="package://a/b.dae"/></geometry></visual>'
    '<collision><geometry><mesh filename="package://a/b.stl"/></geometry></collision>'
)

ARM = (
    '<robot name="arm">'
    + _link("base", _box("0.1 0.1 0.1", z=0.05))
    + _link("upper", _box("0.3 0.04 0.04", x=0.15) + _MESH, x=0.15)
    + _link("lower", _box("0.2 0.04 0.04", x=0.1), m=0.5)
    + '<link name="tool"/>'
    + _link("left", _box("0.04 0.01 0.01", x=0.02), x=0.02, m=0.02)
    + _link("right", _box("0.04 0.01 0.01", x=0.02), x=0.02, m=0.02)
    + _joint("shoulder", "base", "upper", xyz="0 0 0.12")
    + _joint("elbow", "upper", "lower", kind="continuous", xyz="0.3 0 0")
    + _joint("flange", "lower", "tool", kind="fixed", xyz="0.2 0 0")
    + _joint("grip", "tool", "left", "prismatic", xyz="0 0.02 0")
    + _joint(
        "grip_mirror",
        "tool",
        "right",
        "prismatic",
        xyz="0 -0.02 0",
        extra='<mimic joint="grip" multiplier="-1" offset="0.001"/>',
    )
    + "</robot>"
)
JOINTS = ("shoulder", "elbow", "grip")
HOME = np.array([-0.8, 1.2, 0.01])


@pytest.fixture
def make(tmp_path):
    def make(urdf=ARM, **changes):
        path = tmp_path / "robot.urdf"
        path.write_text(urdf, encoding="utf-8")
        fields = {
            "urdf_path": path,
            "joint_names": JOINTS,
            "home": HOME,
            "mimics": (
                MimicJoint(
                    joint="grip_mirror", source="grip", multiplier=-1.0, offset=0.001
                ),
            ),
            "grippers": ("grip",),
            "eef_links": ("tool",),
        }
        return Mechanism(**{**fields, **changes})

    return make


def _run(mechanism, options=None, n=500, q_cmd=None):
    sim = build_model(mechanism, options or ModelOptions())
    data = mujoco.MjData(sim.model)
    data.ctrl[:] = mechanism.home if q_cmd is None else q_cmd
    set_home(sim.model, data, mechanism)
    mujoco.mj_step(sim.model, data, n)
    assert not data.warning.number.any()
    return sim, data


def test_stands_at_home_in_the_order_asked(make):
    order = ("grip", "elbow", "shoulder")
    mechanism = make(joint_names=order, home=HOME[::-1])

    sim, data = _run(mechanism)

    assert data.qpos[sim.qpos_ids] == pytest.approx(HOME[::-1], abs=1e-6)
    assert data.qvel[sim.dof_ids] == pytest.approx(np.zeros(3), abs=1e-6)


def test_warnings_are_logged_and_no_file_is_left_behind(
    make, tmp_path, monkeypatch, caplog
):
    monkeypatch.chdir(tmp_path)
    sim = build_model(make(), ModelOptions())
    data = mujoco.MjData(sim.model)
    data.qpos[0] = 1e30

    mujoco.mj_step(sim.model, data)

    assert "MuJoCo: " in caplog.text
    assert list(tmp_path.glob("MUJOCO_LOG*")) == []


def test_a_continuous_joint_is_one_angle_without_limits(make):
    q_cmd = HOME + [0.0, 8.0, 0.0]

    sim, data = _run(make(), ModelOptions(has_table=False), n=4000, q_cmd=q_cmd)

    assert data.qpos[sim.qpos_ids][1] == pytest.approx(9.2, abs=1e-3)


def test_mimic_joints_follow(make):
    sim, data = _run(make(), q_cmd=HOME + [0.0, 0.0, 0.02])

    assert data.joint("grip").qpos[0] == pytest.approx(0.03, abs=1e-5)
    assert data.joint("grip_mirror").qpos[0] == pytest.approx(-0.029, abs=2e-5)


@pytest.mark.parametrize(
    ("options", "lag"),
    [
        (ModelOptions(), 0.008),
        # dry friction keeps slow joints farther behind
        (ModelOptions(natural_frequency=100.0, friction_scales=(0.0,) * 3), 0.02),
        (
            ModelOptions(
                natural_frequency=100.0, armature=0.03, friction_scales=(0.0,) * 3
            ),
            0.02,
        ),
    ],
)
def test_all_joints_are_behind_a_ramp_by_the_same_time(make, options, lag):
    mechanism = make()
    sim = build_model(mechanism, options)
    data = mujoco.MjData(sim.model)
    set_home(sim.model, data, mechanism)
    speed = np.array([-0.5, 0.5, 0.05])
    for _ in range(300):
        data.ctrl[:] = mechanism.home + speed * (data.time + 0.5e-3)
        mujoco.mj_step(sim.model, data)

    asked = mechanism.home + speed * data.time
    lags = (asked - data.qpos[sim.qpos_ids]) / speed
    assert lags == pytest.approx(np.full(3, lag), abs=1e-3)
    assert compute_lag(options.natural_frequency) == pytest.approx(lag)


def test_drives_carry_the_arm_but_not_a_payload(make):
    q = {}
    for name, options in {
        "gravcomp": ModelOptions(),
        "bare": ModelOptions(has_gravcomp=False),
        "loaded": ModelOptions(payloads=(0.5,)),
    }.items():
        sim, data = _run(make(), options, n=1500)
        q[name] = data.qpos[sim.qpos_ids]

    assert np.abs(q["gravcomp"] - HOME).max() < 1e-6
    assert 1e-5 < np.abs(q["bare"] - HOME).max() < 5e-3
    assert 1e-5 < np.abs(q["loaded"] - HOME).max() < 5e-3


def test_effort_limits_of_the_urdf_hold(make):
    sim, data = _run(make(), q_cmd=HOME + [1.0, 0.0, 0.0], n=5)

    assert data.qfrc_actuator[sim.dof_ids[0]] == pytest.approx(50.0)


def test_friction_scales_are_a_joint_s_own(make):
    one = build_model(make(), ModelOptions()).model.dof_frictionloss
    two = build_model(make(), ModelOptions(friction_scales=(1.0, 2.0, 0.0))).model

    ratios = two.dof_frictionloss[:3] / one[:3]
    assert ratios == pytest.approx([1.0, 2.0, 0.0])


def test_meshes_are_left_out_with_a_word(make, caplog):
    urdf = ARM.replace(_box("0.3 0.04 0.04", x=0.15), "")

    sim, _ = _run(make(urdf), n=10)

    assert "link 'upper' has only meshes" in caplog.text
    assert sim.model.nmesh == 0


def test_a_floating_base_is_fixed(make):
    urdf = ARM.replace(
        "</robot>",
        '<link name="world_frame"/><joint name="float" type="floating">'
        '<parent link="world_frame"/><child link="base"/></joint></robot>',
    )

    sim, data = _run(make(urdf))

    assert data.body("base").xpos == pytest.approx(np.zeros(3), abs=1e-9)


def test_joints_without_a_range_and_bodies_without_a_size_are_none(make):
    urdf = ARM.replace(
        "</robot>",
        '<link name="stub"><collision><geometry><box size="0 0 0"/></geometry>'
        '</collision></link><joint name="stuck" type="revolute">'
        '<parent link="base"/><child link="stub"/>'
        '<limit lower="0" upper="0" effort="1" velocity="1"/></joint></robot>',
    )

    sim, _ = _run(make(urdf))

    names = {sim.model.joint(k).name for k in range(sim.model.njnt)}
    assert "stuck" not in names and "elbow" in names


def test_never_resets_by_itself(make):
    sim, _ = _run(make(), n=1)

    flag = mujoco.mjtDisableBit.mjDSBL_AUTORESET
    assert sim.model.opt.disableflags & int(flag)


def test_overlaps_of_the_model_at_home_do_not_push(make):
    """Bodies of neighbours are drawn into each other, also next to a fixed base."""
    urdf = ARM.replace('size="0.2 0.04 0.04"', 'size="0.9 0.04 0.04"')

    sim, data = _run(make(urdf))

    assert data.qpos[sim.qpos_ids] == pytest.approx(HOME, abs=1e-6)


def test_the_text_is_the_same_model(make):
    sim, data = _run(make())
    model = mujoco.MjModel.from_xml_string(sim.mjcf)
    again = mujoco.MjData(model)
    again.ctrl[:] = HOME
    set_home(model, again, make())
    mujoco.mj_step(model, again, 500)

    assert again.qpos == pytest.approx(data.qpos, abs=1e-6)


def test_missing_joints_are_named(make):
    with pytest.raises(ValueError, match="expected joints wrist, got elbow"):
        build_model(make(joint_names=("shoulder", "wrist", "grip")), ModelOptions())


class TestWorld:
    def test_table_meets_the_base_and_the_block_lies_under_the_hand(self, make):
        sim, data = _run(make())
        table, tool = data.geom("table"), data.body("tool").xpos

        assert table.xpos[2] + sim.model.geom("table").size[2] == pytest.approx(0)
        assert data.body("block").xpos == pytest.approx(
            [tool[0], tool[1], 0.015], abs=2e-4
        )

    def test_legs_get_a_floor_below_them_and_no_table(self, make):
        mechanism = make(home=np.array([1.2, 0.0, 0.0]))

        sim, data = _run(mechanism, n=1)

        assert not sim.objects
        names = [sim.model.geom(k).name for k in range(sim.model.ngeom)]
        assert "table" not in names
        assert data.geom("floor").xpos[2] < data.body("tool").xpos[2] - 0.25

    def test_a_table_of_its_own_carries_the_block(self, make):
        own = _link("desk", _box("2 2 0.02", z=0.04)) + _joint(
            "bolt", "base", "desk", kind="fixed"
        )

        sim, data = _run(make(ARM.replace("</robot>", own + "</robot>")))

        names = [sim.model.geom(k).name for k in range(sim.model.ngeom)]
        assert "table" not in names
        assert data.body("block").xpos[2] == pytest.approx(0.065, abs=2e-4)

    def test_unwanted_objects_are_not_in_the_model(self, make):
        for options in (
            ModelOptions(has_block=False),
            ModelOptions(has_table=False),
        ):
            sim = build_model(make(), options)
            assert not sim.objects
        names = [sim.model.geom(k).name for k in range(sim.model.ngeom)]
        assert "table" not in names


@pytest.mark.parametrize(
    "name",
    ["g1_baby", "open_manipulator_y_follower", "piper_2arm_gripper_table", "ur5e"],
)
def test_urdfs_of_others_stand_still(name):
    path = find_shared(f"urdf/{name}.urdf")
    plain = mujoco.MjSpec.from_string(_strip(path))
    names = tuple(joint.name for joint in plain.joints)
    middle = [np.mean(joint.range) for joint in plain.joints]
    mechanism = Mechanism(
        urdf_path=path, joint_names=names, home=np.array(middle, dtype=float)
    )

    sim, data = _run(mechanism)

    assert np.abs(data.qvel).max() < 1e-3


def _strip(path):
    return read_plain_urdf(path)


def test_an_inertia_that_no_body_has_is_mended_and_told(make, caplog):
    """TIAGo's antennas have a negative moment: MuJoCo refused the whole robot."""
    mechanism = make(ARM.replace('ixy="0"', 'ixy="0.005"', 1))

    model = build_model(mechanism, ModelOptions()).model

    assert "inertia of link 'base'" in caplog.text
    assert (model.body("base").inertia > 0.0).all()


def test_pairs_that_nothing_keeps_apart_go_through_each_other(make):
    """The gate lets them: a simulated contact there threw the robot about."""
    model = build_model(make(ignored=(("base", "lower"),)), ModelOptions()).model

    pairs = {
        frozenset(model.body(int(k)).name for k in (sig >> 16, sig & 0xFFFF))
        for sig in model.exclude_signature
    }
    assert frozenset(("base", "lower")) in pairs
