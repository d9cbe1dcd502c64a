"""Hands and moving bases are named and hold; no leader drives them by accident."""

from __future__ import annotations

import pytest
from public_robots import PUBLIC
from shared_data import require

from paprle.config import resolve
from paprle.contracts.errors import ConfigError
from paprle.hosts.plan import make_plan
from paprle.robot import RobotModel
from paprle.robot.discovery.limbs import find_limbs
from paprle.robot.urdf import read_urdf
from paprle_lab.onboarding.new_robot import write_new_robot

ARM = [
    f"a{k} revolute {axis} 0.2 -" for k, axis in enumerate(("010", "010", "100", "010"))
]
X, Y, Z = "x prismatic 100 0 -", "y prismatic 010 0 -", "z prismatic 001 0 -"
TURN = "turn continuous 001 0 -"
FLOATING = [
    X,
    Y,
    Z,
    *(f"turn_{axis} revolute {axis} 0 -" for axis in ("001", "010", "100")),
]


def make_finger(name: str, palm: str, n: int = 4, step: float = 0.03) -> list[str]:
    first = [f"{name}1 revolute 010 {step} {palm}"]
    return first + [f"{name}{k} revolute 010 {step} -" for k in range(2, n + 1)]


def make_hand(palm: str) -> list[str]:
    names = ("ff", "mf", "rf", "th")
    return [line for name in names for line in make_finger(name, palm)]


def write(folder, lines):
    """Write ``name kind axis height parent``; '-': on the joint before."""
    links, body, last = ["base"], "", "base"
    for line in lines:
        name, kind, axis, height, parent = line.split()
        above = last if parent == "-" else parent
        bounds = "" if kind == "continuous" else 'lower="-1.5" upper="1.5"'
        body += (
            f'<joint name="{name}" type="{kind}"><parent link="{above}"/>'
            f'<child link="{name}_l"/><origin xyz="0 0 {height}"/>'
            f'<axis xyz="{" ".join(axis)}"/><limit {bounds} velocity="1"/></joint>'
        )
        links.append(f"{name}_l")
        last = f"{name}_l"
    path = folder / "robot.urdf"
    text = "".join(f'<link name="{link}"/>' for link in links)
    path.write_text(f'<robot name="robot">{text}{body}</robot>')
    return path


def find(path) -> dict[str, int]:
    return {limb.name: len(limb.joint_names) for limb in find_limbs(read_urdf(path))}


@pytest.mark.parametrize(
    ("lines", "limbs"),
    [
        (make_hand("base"), {}),
        ([*ARM, *make_hand("a3_l")], {"arm": 4}),
        ([*ARM[:2], *make_hand("a1_l")], {"arm": 2}),
        (make_finger("seg", "base"), {"arm": 4}),
        (make_finger("b", "base", step=0.2) + make_finger("c", "base", step=0.2), None),
    ],
    ids=["a hand", "on an arm", "on a wrist", "one finger", "two arms"],
)
def test_fingers_of_a_hand_are_no_arms(lines, limbs, tmp_path):
    found = find(write(tmp_path, lines))

    assert found == ({"arm_1": 4, "arm_2": 4} if limbs is None else limbs)


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_public_hand_has_no_arm(side):
    path = PUBLIC / f"allegro_hand_description/urdf/allegro_{side}_hand.urdf"

    assert find(require(path)) == {}


@pytest.mark.parametrize(
    ("base", "n_joints"),
    [
        ([X, Y, TURN], 4),
        ([X, Y, TURN.replace("continuous", "revolute"), "pan revolute 001 0 -"], 5),
        (["base_x prismatic 100 0 -", "base_turn revolute 001 0 -"], 4),
        (["base_turn continuous 001 0 -", "base_go prismatic 100 0 -"], 4),
        (["mobile_platform prismatic 100 0 -"], 4),
        (["rail prismatic 010 0 -"], 5),
        (["lift prismatic 001 0 -"], 5),
        ([X, Y, Z], 7),
        (["base_joint revolute 001 0 -"], 5),
        ([f"virtual_{line}" for line in FLOATING], 4),
        ([f"floating_{line}" for line in FLOATING], 4),
        ([f"virtual_{line}" for line in FLOATING[:4]], 4),
        ([f"robot_{line}" for line in FLOATING[:3]], 7),
    ],
    ids=[
        "x, y, turn", "before a pan", "x, turn", "turn, x", "named", "rail", "lift",
        "gantry", "an arm's first joint", "six virtual", "six floating",
        "four virtual", "named gantry",
    ],
)  # fmt: skip
def test_a_moving_base_is_no_part_of_the_arm(base, n_joints, tmp_path):
    assert find(write(tmp_path, [*base, *ARM])) == {"arm": n_joints}


def test_held_joints_are_reported_by_new_robot_and_by_each_start(tmp_path):
    urdf = write(tmp_path, [X, Y, TURN, *ARM, *make_hand("a3_l")])

    report = write_new_robot(urdf, tmp_path / "out", "robot")
    words = ("leader=autopilot", f"follower={report.path}", "env=kinematic")
    told = make_plan(resolve(list(words))).describe()

    for text in (
        "a moving base holds still, since no rule drives one: x, y, turn",
        "fingers of hands hold still, since no rule drives them: ff1, ff2",
    ):
        assert f"CHECK: {text}" in "\n".join(report.findings())
        assert text in told  # fmt: skip


def test_a_hand_alone_is_refused_by_a_leader_with_what_to_do(tmp_path):
    report = write_new_robot(write(tmp_path, make_hand("base")), tmp_path / "out", "r")

    assert RobotModel.from_yaml(report.path).limbs == {}
    words = ("leader=autopilot", f"follower={report.path}", "env=kinematic")
    with pytest.raises(ConfigError, match="describe one in follower.limbs"):
        make_plan(resolve(list(words)))
