"""A hand drives the arm of its own side, whatever the two are called."""

from __future__ import annotations

import functools
import time

import pytest
import yaml
from dataset_files import write_aloha
from mixed_arms import describe
from public_robots import PUBLIC
from retargeting import load_robot
from shared_data import require

from paprle.config import resolve
from paprle.contracts.errors import ConfigError
from paprle.contracts.kit.leader_group import merge_leaders
from paprle.contracts.settings.retarget import JointMapSettings, RetargetSettings
from paprle.contracts.types import LeaderInfo, LimbInfo
from paprle.hosts.factories import make_leaders
from paprle.hosts.plan import make_plan, make_robot
from paprle.hosts.preflight import rehearse
from paprle.ipc.process import WORKSPACE
from paprle.retargeting.leader_arms import load_arms
from paprle.retargeting.namesakes import match_first, match_names
from paprle.retargeting.pairing import make_pairing
from paprle.robot.discovery.limb_names import find_side, find_sides
from paprle.robot.discovery.limbs import find_limbs
from paprle.robot.urdf import read_urdf

LEADERS = {
    "headset": ("left", "right"),
    "headset, right hand first": ("right", "left"),
    "copies of two arms": ("left_arm", "right_arm"),
    "copy of a humanoid": ("left_arm", "right_arm", "left_leg", "right_leg"),
    "topics": ("/l_arm", "/r_arm"),
    "capitals": ("L", "R"),
    "side last": ("arm_left", "arm_right"),
    "letter last": ("hand_l", "hand_r"),
    "one word": ("leftArm", "rightArm"),
    "no gap": ("larm", "rarm"),
}
ROBOTS = ("g1", "g1_upper", "papras_7dof_2arm", "piper_2arm", "so101_2arm")
JOINED = {  # arms of `paprle new-robot`, by the name of the robot
    "ur5e and xarm7": ("ur5e@left", "xarm7@right"),
    "two viperx300s": ("viperx300s@right", "viperx300s@left"),
}
TWO_HANDED = {  # by the YAML in configs/leader, and what else is typed
    "webxr": "leader.hands=[left,right]",
    "visionpro": "leader.host=localhost leader.hands=[right,left]",
    "joycons": "",
    "puppeteer_g1": "",
    "puppeteer_g1_upper": "",
    "puppeteer_papras_7dof_2arm": "",
    "puppeteer_piper_2arm": "",
    "dataset_aloha": "leader.path=ALOHA",
    "ros": "leader.limbs.left.topic=/left leader.limbs.right.topic=/right",
    "remote": "leader.limbs=[left,right]",
    "mix": "leaders.left.type=spacemouse leaders.right.type=gamepad",
    "mix of joints": "leaders.right.type=puppeteer_piper "
    "leaders.left.type=puppeteer_piper leaders.left.limbs.arm.port=/dev/ttyUSB1",
}
NO_NAMES = {"dataset_aloha"}  # joints alone, of other names than the robots have
BARE = {
    "baxter": "baxter_description/urdf/baxter.urdf",
    "pr2": "pr2_description/urdf/pr2.urdf",
}
NAMED = {
    "sides": ("left", "right"),
    "letters": ("r_arm", "l_arm"),
    "capitals": ("R", "L"),
    "side last": ("arm_right", "arm_left"),
    "camel": ("rightArm", "leftArm"),
    "with a head": ("head", "arm_left", "arm_right"),
}


def make_limbs(names) -> list[LimbInfo]:
    return [
        LimbInfo(name=name, base_link="base", eef_link=f"{name}_tool", joint_names=())
        for name in names
    ]


def list_limbs(robot: str) -> list[LimbInfo]:
    if robot in NAMED:
        return make_limbs(NAMED[robot])
    if robot in ROBOTS:
        return list(load_robot(robot).info.limbs)
    urdf = require(PUBLIC / BARE[robot])
    return [
        LimbInfo(
            name=limb.name,
            base_link=limb.base_link,
            eef_link=limb.eef_link,
            joint_names=limb.joint_names,
        )
        for limb in find_limbs(read_urdf(urdf))
    ]


def pair(robot: str, leader: LeaderInfo, **settings):
    return make_pairing(load_robot(robot), leader, RetargetSettings(**settings), {})


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A folder with an episode of ALOHA, and joined robots."""
    folder = tmp_path_factory.mktemp("written")
    write_aloha(folder / "aloha", [50])
    for name, arms in JOINED.items():
        describe(folder, *arms, name=name.replace(" ", "_"))
    return folder


@functools.cache
def load_any(robot: str, folder):
    """Return a robot of this repository, or a joined one."""
    if robot in ROBOTS:
        return load_robot(robot)
    path = folder / f"follower/{robot.replace(' ', '_')}.yaml"
    return make_robot(
        resolve(["leader=autopilot", f"follower={path}", "env=kinematic"])
    )


@functools.cache
def read_leader(name: str, folder) -> LeaderInfo:
    """Return what a leader of this repository says of itself, closed."""
    words = TWO_HANDED[name].replace("ALOHA", str(folder / "aloha")).split()
    words.append(f"leader={name.split(maxsplit=1)[0]}")
    resolved = resolve([*words, "follower=g1_upper", "env=kinematic"])
    made = make_leaders(resolved, time.monotonic_ns, load_robot("g1_upper").info)
    return merge_leaders({name: leader.info for name, leader in made.items()})


def name_side(limb: str) -> str:
    """Tell a side by the first letter that is an l or an r at a word's end or begin."""
    text = limb.lower().strip("/")
    for side in ("left", "right"):
        bare = text.replace("arm", "").replace("hand", "").replace("leg", "")
        if side in text or bare.strip("_") == side[0]:
            return side
    return ""


@pytest.mark.parametrize("robot", [*ROBOTS, *BARE, *NAMED])
@pytest.mark.parametrize("leader", LEADERS)
def test_each_hand_drives_the_arm_of_its_side(leader, robot):
    limbs = list_limbs(robot)

    found = match_names(limbs, LeaderInfo(limbs=LEADERS[leader]), {})

    arms = {name for name in found.limbs if "leg" not in name}
    sides = {name_side(name) for name in arms}
    assert sides == {"left", "right"}, found
    assert len(arms) == 2
    for name, own in found.limbs.items():
        assert name_side(name) == name_side(own)
    assert not found.problems


def map_joints(robot, leader) -> RetargetSettings:
    """Return settings that give each arm's joints those of a leader, in order."""
    names = next(iter(leader.joint_names.values()))
    return RetargetSettings(
        mode="joints",
        joint_map={
            own: JointMapSettings(joint=name)
            for limb in robot.info.limbs
            if "leg" not in limb.name
            for own, name in zip(limb.joint_names, names, strict=False)
        },
    )


@pytest.mark.parametrize("robot", [*ROBOTS, *JOINED])
@pytest.mark.parametrize("name", TWO_HANDED)
def test_each_leader_of_two_hands_drives_each_robot_of_two_arms(name, robot, written):
    leader, robot = read_leader(name, written), load_any(robot, written)
    given = map_joints(robot, leader) if name in NO_NAMES else RetargetSettings()

    made = make_pairing(robot, leader, given, load_arms(leader))

    drivers = {
        name: own.sources[0].leader_limb
        for name, own in made.limbs.items()
        if "leg" not in name
    }
    assert len(drivers) == 2
    for name, own in drivers.items():
        assert name_side(name) == name_side(own) != ""


def find_two_sided(kind):
    """Return the YAMLs of a kind in which a limb is left and another one is right."""
    found = set()
    for path in (WORKSPACE / "configs" / kind).glob("*.yaml"):
        words = yaml.safe_load(path.read_text())
        limbs = [*words.get("limbs", ()), *words.get("pads", ())]
        limbs += ["left", "right"] if "[left, right]" in path.read_text() else []
        if {find_side(name) for name in limbs} >= {"left", "right"}:
            found.add(path.stem)
    return found


def test_every_yaml_with_a_left_and_a_right_limb_is_tried():
    leaders, robots = find_two_sided("leader"), find_two_sided("follower")

    assert {"webxr", "joycons", "dataset_aloha", "puppeteer_g1"} <= leaders
    assert leaders - set(TWO_HANDED) == set()
    assert robots == set(ROBOTS)


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("hand", ["left", "right"])
def test_one_hand_of_a_headset_drives_its_own_side(hand, robot):
    words = ("leader=webxr", f"leader.hands=[{hand}]", f"follower={robot}")

    told = rehearse(make_plan(resolve([*words, "env=kinematic"]))).told

    other = {"left": "right", "right": "left"}[hand]
    assert f"{hand} drives {hand}" in told
    assert f"drives {other}" not in told
    assert "CHECK" not in told


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_limb_that_is_taken_for_its_place_alone_is_a_line_to_check(robot):
    plan = make_plan(
        resolve(["leader=autopilot", f"follower={robot}", "env=kinematic"])
    )

    first = plan.robot.info.limbs[0].name

    assert f"CHECK: 'hand' drives '{first}' because it is the first" in plan.describe()
    assert f"retarget.limb_map.{first}=hand" in plan.describe()


@pytest.mark.parametrize(
    ("limb", "robot"), [("right", "left_arm"), ("l_hand", "arm_right"), ("L", "R")]
)
def test_a_hand_of_the_other_side_is_refused(limb, robot):
    found = match_first(make_limbs([robot]), LeaderInfo(limbs=(limb,)))

    assert found.limbs == {}
    assert f"retarget.limb_map.{robot}={limb}" in found.problems[0]
    assert find_side(limb) in found.problems[0]


def test_joints_of_the_other_side_are_refused_unless_a_map_says_so():
    names = load_robot("g1_upper").limbs["left_arm"].joint_names
    leader = LeaderInfo(limbs=("right",), emits="joints", joint_names={"right": names})

    with pytest.raises(ConfigError, match=r"'right' is a right one .* 'left_arm'"):
        pair("g1_upper", leader)

    crossed = pair("g1_upper", leader, limb_map={"left_arm": "right"})
    assert list(crossed.limbs) == ["left_arm"]


def test_a_limb_is_driven_by_the_leader_limb_that_has_its_joints():
    robot = load_robot("g1_upper")
    names = {limb: robot.limbs[f"{limb}_arm"].joint_names for limb in ("left", "right")}
    leader = LeaderInfo(limbs=("a", "b"), emits="joints", joint_names={
        "a": names["left"], "b": names["right"]})  # fmt: skip

    made = pair("g1_upper", leader)

    drivers = {name: own.sources[0].leader_limb for name, own in made.limbs.items()}
    assert drivers == {"left_arm": "a", "right_arm": "b"}


def test_a_hand_without_an_arm_of_its_side_is_told():
    made = pair("g1_upper", LeaderInfo(limbs=("left", "right", "third")))

    assert made.doubts == ("leader limb 'third' drives nothing",)


def test_leaders_of_a_group_drive_the_side_that_they_are_named_for():
    hand = LeaderInfo(limbs=("hand",))
    group = merge_leaders({"r": hand, "left": hand})

    found = match_names(make_limbs(["left_arm", "right_arm"]), group, {})

    assert found.limbs == {"left_arm": "left.hand", "right_arm": "r.hand"}


@pytest.mark.parametrize(
    ("name", "side"),
    [
        ("left_arm", "left"), ("l_wrist", "left"), ("armL", "left"), ("R", "right"),
        ("rightHand", "right"), ("gripper_r", "right"), ("fl_leg", "left"),
        ("lefttcp", "left"), ("leftmanipulator", "left"), ("r_shoulder", "right"),
        ("r2_arm", ""), ("leader", ""), ("arm", ""), ("left_right", ""), ("lift", ""),
    ],
)  # fmt: skip
def test_a_side_is_read_from_words_and_letters(name, side):
    assert find_side(name) == side


def test_joints_tell_the_side_where_limbs_do_not_and_differ():
    both = find_sides({"a": ("l_elbow", "l_wrist"), "b": ("r_elbow", "r_wrist")})

    assert both == {"a": "left", "b": "right"}
    assert find_sides({"arm": ("r_1", "r_2")}) == {"arm": ""}


@pytest.mark.parametrize(
    ("left", "right"), [("arm_l1", "arm_r1"), ("L_1", "R_1"), ("l1_tool", "r1_tool")]
)
def test_a_letter_before_a_number_is_a_side_beside_its_twin(left, right):
    assert find_sides({left: (), right: ()}) == {left: "left", right: "right"}
    assert find_sides({left: (), "other": ()}) == {left: "", "other": ""}
