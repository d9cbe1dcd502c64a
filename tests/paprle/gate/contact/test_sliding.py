"""What presses against a body slides along it, and comes to rest."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from adversary import Judge, drive, judge_joints, load

from paprle.contracts.settings.core import GateSettings, IkSettings, SceneBodySettings
from paprle.gate.gate import Gate
from paprle.gate.reasons import Reason
from paprle.kinematics.robot_solver import LimbSolver

H = 0.005  # [s]
PRESS, ALONG = 0.05, 0.2  # [m]


def make_wall(robot, room=0.04):
    """Return a wall ahead of the first limb's tool, [m] away from all of the robot."""
    limb = next(iter(robot.limbs.values()))
    p = limb.fk(limb.home).translation
    joint, T_root_base = robot.link_places[limb.base_link]
    assert joint < 0, "the limb stands on what does not move"
    rpy = tuple(pin.rpy.matrixToRpy(T_root_base.rotation))

    def wall(distance):
        xyz = tuple(T_root_base.act(p + [distance + 1.0, 0.0, 0.0]))
        box = SceneBodySettings(shape="box", size=(2.0, 2.0, 2.0), xyz=xyz, rpy=rpy)
        return {"wall": box}

    near, far = -0.3, 0.6
    for _ in range(16):
        middle = 0.5 * (near + far)
        model = robot.make_collision_model(wall(middle))
        distances = model.clearances(robot.home)
        of_wall = [
            d for d, pair in zip(distances, model.pairs, strict=True) if "wall" in pair
        ]
        near, far = (near, middle) if min(of_wall) > room else (middle, far)
    return wall(far)


def press_and_slide(robot, settings):
    """Lead the first limb 5 cm beyond a wall, then 20 cm along it.

    Returns:
        How far it is off along the wall in the end, and its commands.
    """
    gate = Gate(robot, settings, h=H, allow_no_bodies=True)
    solver = LimbSolver(robot, IkSettings(), 0.02)
    limb = next(iter(robot.limbs.values()))
    T = np.array([own.fk(own.home).homogeneous for own in robot.limbs.values()])
    p = T[0, :3, 3].copy()
    is_asked = np.arange(len(T)) == 0
    q, free, commands = robot.home.copy(), np.full(len(robot.home), np.nan), []
    for k in range(1100):
        in_, along = min(k * H, 1.0), min(max(k * H - 1.5, 0.0) / 2.0, 1.0)
        T[0, :3, 3] = p + [in_ * (0.02 + PRESS), ALONG * along, 0.0]
        q, _, _ = solver.solve(T, is_asked, free, q, gate.q_limited, H)
        commands.append(gate.step(q, H).q_cmd)
    off = limb.fk(limb.take(commands[-1])).translation - T[0, :3, 3]
    assert off[0] < -0.5 * PRESS, "it presses"
    return float(np.hypot(off[1], off[2])), np.array(commands)


@pytest.mark.parametrize("name", ["piper", "papras_7dof", "ur5e"])
def test_a_hand_that_presses_is_not_led_aside(name):
    """A measure of joints led hands 2 to 8 cm aside that leant into a table."""
    robot = load(name)
    settings = GateSettings(scene=make_wall(robot))

    aside, commands = press_and_slide(robot, settings)

    assert aside < 0.005
    assert Judge(robot, settings).find_bad(commands[::5]) == []
    assert judge_joints(commands, robot).is_ok
    assert np.abs(np.diff(commands[-40:], axis=0)).max() < 1e-5, "and it rests"


@pytest.mark.parametrize(
    ("name", "seed"), [("papras_7dof_2arm", 1001), ("piper", 1023)]
)
def test_a_goal_far_beyond_a_body_is_rested_before(name, seed):
    """The nearest points leapt from rim to rim, and joints shook by A for ever."""
    robot = load(name)
    gate = Gate(robot, h=H)
    rng = np.random.default_rng(seed)
    goal = rng.uniform(np.maximum(robot.q_min, -6.28), np.minimum(robot.q_max, 6.28))

    commands, events, _ = drive(gate, [goal] * 1200)

    assert Reason.CLEARANCE in events[-1]
    assert np.abs(np.diff(commands[-100:], axis=0)).max() < 1e-5


def test_a_reset_forgets_the_holding_rows():
    robot = load("piper")
    gate = Gate(robot, h=H)
    clash = Judge(robot, GateSettings()).draw_clash(np.random.default_rng(0), robot)
    drive(gate, [clash] * 400)
    assert gate._sliding._rows

    gate.reset(robot.home)

    assert not gate._sliding._rows
    free, _, _ = drive(gate, [robot.home + 0.01] * 100)
    assert free[-1] == pytest.approx(np.clip(robot.home + 0.01, gate.q_min, gate.q_max))
