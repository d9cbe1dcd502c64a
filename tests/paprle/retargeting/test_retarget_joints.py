import numpy as np
import pytest
from retargeting import HAND, follow, joint_sample, load_robot, make

from paprle.contracts.errors import ConfigError
from paprle.contracts.settings.core import IkSettings
from paprle.contracts.settings.retarget import JointMapSettings
from paprle.contracts.types import LeaderInfo
from paprle.kinematics.robot_solver import LimbSolver

# Joints


def test_joints_of_equal_names_are_taken_over():
    robot = load_robot("piper")
    names = tuple(reversed(robot.limbs["arm"].joint_names))
    leader = LeaderInfo(limbs=("twin",), emits="joints", joint_names={"twin": names})
    retargeting = make(robot, leader, mode="joints")

    sample = joint_sample(leader, twin=[0.6, 0.5, 0.4, -0.3, 0.2, 0.1])
    found = follow(retargeting, sample, robot.home)

    assert retargeting.pairing.rules == {"joints"}
    q = robot.limbs["arm"].take(found.q_des)
    np.testing.assert_array_equal(q, [0.1, 0.2, -0.3, 0.4, 0.5, 0.6])


def test_joint_map_applies_sign_scale_and_offset_and_holds_the_rest():
    robot = load_robot("piper")
    leader = LeaderInfo(
        limbs=("stick",), emits="joints", joint_names={"stick": ("a", "b")}
    )
    entry = JointMapSettings(joint="b", sign=-1, scale=2.0, offset=0.5)
    retargeting = make(robot, leader, mode="joints", joint_map={"joint2": entry})

    q = follow(retargeting, joint_sample(leader, stick=[9.0, 0.1]), robot.home).q_des

    expected = robot.home.copy()
    expected[robot.joint_names.index("joint2")] = -2.0 * 0.1 + 0.5
    np.testing.assert_allclose(q, expected, atol=1e-15)
    assert "hold" in retargeting.describe()


def test_joints_of_several_limbs_find_their_own_leader():
    robot = load_robot("papras_7dof_2arm")
    names = {limb: robot.limbs[limb].joint_names for limb in ("right", "left")}
    leader = LeaderInfo(limbs=("right", "left"), emits="joints", joint_names=names)
    retargeting = make(robot, leader, mode="joints")

    sample = joint_sample(leader, right=np.full(7, 0.2), left=np.full(7, 0.1))
    q = follow(retargeting, sample, robot.home).q_des

    np.testing.assert_array_equal(robot.limbs["left"].take(q), np.full(7, 0.1))
    np.testing.assert_array_equal(robot.limbs["right"].take(q), np.full(7, 0.2))


@pytest.mark.parametrize("q", [np.full(6, np.nan), np.zeros(0)], ids=["nan", "empty"])
def test_joints_that_are_not_there_hold(q):
    robot = load_robot("piper")
    names = {"twin": robot.limbs["arm"].joint_names}
    leader = LeaderInfo(limbs=("twin",), emits="joints", joint_names=names)
    retargeting = make(robot, leader, mode="joints")

    found = follow(retargeting, joint_sample(leader, twin=q), robot.home)

    assert np.array_equal(found.q_des, robot.home)


@pytest.mark.parametrize("seed", range(5))
def test_undriven_joints_stay_as_the_ik_leaves_them(seed):
    rng = np.random.default_rng(seed)
    robot = load_robot("papras_7dof_2arm")
    driven = robot.limbs["left"].joint_names[:3]
    leader = LeaderInfo(
        limbs=("left",), emits="joints", joint_names={"left": driven}, has_gripper=True
    )
    keys = {joint: JointMapSettings(joint=joint) for joint in driven}
    retargeting = make(robot, leader, mode="joints", joint_map=keys)
    q_cmd = robot.home
    q_prev = q_cmd + rng.uniform(-0.4, 0.4, len(q_cmd))
    sample = joint_sample(leader, left=rng.normal(size=3))
    target = retargeting.retarget(sample, retargeting.anchor(sample, q_cmd))

    found = retargeting.solve(target, q_prev, q_cmd)

    solver = LimbSolver(robot, IkSettings(), 0.0)
    expected, errors, is_met = solver.solve(
        target.T, target.is_asked, target.q, q_prev, q_cmd
    )
    np.testing.assert_array_equal(found.q_des, expected)
    assert not np.array_equal(expected, q_prev), "none was drawn to the command"
    np.testing.assert_array_equal(robot.limbs["left"].take(expected)[:3], sample.q[0])
    np.testing.assert_array_equal([found.err_pos, found.err_rot], errors)
    assert found.is_converged == is_met


# Pairing


@pytest.mark.parametrize(
    ("robot", "leader", "keys", "said"),
    [
        (
            "papras_7dof_2arm",
            HAND,
            {"limb_map": {"left": "hand", "right": "hand"}},
            "hand drives left and right, relative, scale 1, world axes",
        ),
        (
            "papras_7dof_2arm",
            HAND,
            {},
            "hand drives left, relative, scale 1, world axes, right holds",
        ),
        (
            "g1",
            HAND,
            {},
            "hand drives left_arm, relative, scale 1, world axes, right_arm, left_leg "
            "and right_leg hold",
        ),
        (
            "papras_7dof_2arm",
            LeaderInfo(limbs=("left", "right")),
            {"scale": 0.5, "alignment": "body"},
            "left drives left, right drives right, relative, scale 0.5, tool axes",
        ),
        (
            "papras_7dof_2arm",
            LeaderInfo(limbs=("a", "b")),
            {"limb_map": {"right": "b"}},
            "b drives right, relative, scale 1, world axes, left holds",
        ),
        (
            "piper",
            LeaderInfo(limbs=("hand",), is_absolute=True),
            {},
            "hand drives arm, absolute",
        ),
        (
            "piper",
            LeaderInfo(limbs=("hand",), is_absolute=True),
            {"mode": "relative", "rpy_xyz_extrinsic": (0.0, 0.0, 1.5)},
            "hand drives arm, relative, scale 1, world axes turned by rpy (0, 0, 1.5)",
        ),
        (
            "so101",
            HAND,
            {},
            "hand drives arm, relative, scale 1, world axes, position before "
            "orientation (5 joints)",
        ),
        (
            "so101_2arm",
            LeaderInfo(limbs=("left", "right"), is_absolute=True),
            {},
            "left drives left, right drives right, absolute, position before "
            "orientation (5 joints)",
        ),
    ],
)
def test_the_description_names_the_chosen_mapping(robot, leader, keys, said):
    assert make(robot, leader, **keys).describe() == said


TWO_JOINTS = LeaderInfo(
    limbs=("stick",), emits="joints", joint_names={"stick": ("joint1", "joint2")}
)


@pytest.mark.parametrize(
    ("leader", "keys", "problems"),
    [
        (
            HAND,
            {"limb_map": {"amr": "hand", "arm": "hnad"}},
            ["'amr'; did you mean 'arm'", "'hnad'; did you mean 'hand'"],
        ),
        (LeaderInfo(limbs=("a", "b")), {}, ["expected follower limbs"]),
        (
            HAND,
            {"mode": "joints"},
            ["leader that emits joints, got one that emits pose"],
        ),
        (TWO_JOINTS, {"mode": "relative"}, ["emits pose, got one that emits joints"]),
        (TWO_JOINTS, {}, ["do not tell that the leader is built as 'piper'"]),
        (
            LeaderInfo(limbs=("x",), emits="joints", joint_names={"x": ("u", "v")}),
            {},
            [r"expected leader joints named as joints of 'piper'"],
        ),
        (
            TWO_JOINTS,
            {
                "mode": "joints",
                "joint_map": {
                    "jiont3": JointMapSettings(joint="joint1"),
                    "joint4": JointMapSettings(joint="jont2"),
                },
            },
            ["'jiont3'; did you mean 'joint3'", "'jont2'; did you mean 'joint2'"],
        ),
        (
            HAND,
            {"joint_map": {"joint1": JointMapSettings(joint="a")}},
            ["expected none in mode 'relative'"],
        ),
    ],
)
def test_impossible_pairings_are_refused_with_every_problem(leader, keys, problems):
    with pytest.raises(ConfigError) as error:
        make("piper", leader, **keys)

    for problem in problems:
        assert any(problem in line for line in error.value.problems), problem


def test_mobility_of_unknown_joints_is_refused():
    ik = IkSettings(mobility={"jiont1": 0.5, "joint2": 0.5})

    with pytest.raises(ConfigError, match="did you mean 'joint1'"):
        make("piper", ik=ik)


# No driver by accident


def joints_leader(names, **keys):
    return LeaderInfo(
        limbs=("twin",), emits="joints", joint_names={"twin": names}, **keys
    )


@pytest.mark.parametrize("prefix", ["joint", "left_joint", "j", "axis_", "right_arm_q"])
def test_joint_names_that_many_robots_have_drive_nothing_unasked(prefix):
    robot = load_robot("papras_7dof")
    own = robot.limbs["arm"].joint_names if "arm" in robot.limbs else None
    names = own or next(iter(robot.limbs.values())).joint_names

    with pytest.raises(ConfigError, match="retarget.mode=joints"):
        make("papras_7dof", joints_leader(names))
    with pytest.raises(ConfigError, match="expected leader joints named"):
        make("papras_7dof", joints_leader(tuple(f"{prefix}{i}x" for i in range(7))))


def test_a_robots_own_recording_drives_its_joints_by_any_name():
    robot = load_robot("piper")
    names = robot.limbs["arm"].joint_names

    own = make("piper", joints_leader(names, robot="piper"))

    assert own.pairing.rules == {"joints"}
    with pytest.raises(ConfigError, match="do not tell"):
        make("piper", joints_leader(names, robot="panda"))


def test_names_that_tell_one_joint_from_another_are_a_match():
    robot = load_robot("g1")
    names = robot.limbs["left_leg"].joint_names

    assert list(make("g1", joints_leader(names)).pairing.limbs) == ["left_leg"]


def test_a_file_beyond_the_robots_limits_is_refused_with_joint_and_share():
    robot = load_robot("piper")
    names = robot.limbs["arm"].joint_names
    inside = np.tile(robot.limbs["arm"].home, (100, 1))
    beyond = inside.copy()
    beyond[:20, 1] = robot.limbs["arm"].q_max[1] + 0.2

    leader = joints_leader(names, robot="piper", motion={"twin": beyond})
    with pytest.raises(ConfigError, match=r"'joint2' from .* 20% of it outside"):
        make("piper", leader)

    make("piper", joints_leader(names, robot="piper", motion={"twin": inside}))


@pytest.mark.parametrize("robot", ["g1", "g1_upper", "papras_7dof_2arm"])
def test_one_hand_drives_one_limb_and_never_a_leg(robot):
    driven = list(make(robot).pairing.limbs)

    assert len(driven) == 1
    assert "leg" not in driven[0]


def test_a_leg_is_driven_when_it_is_named():
    made = make("g1", limb_map={"left_leg": "hand"})

    assert list(made.pairing.limbs) == ["left_leg"]
