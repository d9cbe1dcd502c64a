"""Clearance from itself and the scene, judged by coal; joints, by the oracle."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from adversary import PATTERNS, H, Judge, Servo, drive, judge_joints, load, make_targets
from cells import spread
from minimal_robots import make_sliders

from paprle.contracts.settings.core import GateSettings, SceneBodySettings
from paprle.gate import limits
from paprle.gate.contact import clearance, stops
from paprle.gate.gate import Gate
from paprle.gate.reasons import Reason

pytestmark = pytest.mark.long
ROBOTS = ["piper", "ur5e", "papras_7dof", "papras_7dof_2arm", "g1", "table2", "table4"]
SCENES = {
    "box": SceneBodySettings(shape="box", size=(0.1, 0.3, 0.3), xyz=(0.45, 0.0, 0.2)),
    "sphere": SceneBodySettings(shape="sphere", size=(0.1,), xyz=(0.3, 0.3, 0.4)),
    "ground": SceneBodySettings(shape="ground", xyz=(0.0, 0.0, -0.1)),
}
AHEAD = np.array([0.0, 0.9, 0.0, -1.0, 0.0, 0.0, 0.0])  # stretched out, 0.74 m


def soak(name, pattern, seed, n, h=H, scene=None):
    """Drive a robot and judge each command; return commands and events."""
    robot, rng = load(name), np.random.default_rng(seed)
    settings = GateSettings(scene=scene or {})
    judge, gate = Judge(robot, settings), Gate(robot, settings, h=h)
    targets = make_targets(rng, robot, n, pattern, judge)
    commands, events, _ = drive(gate, targets, h, rng=rng)

    verdict = judge_joints(commands, robot, h)

    assert verdict.is_ok, str(verdict)
    assert judge.find_bad(commands) == []
    assert judge.find_bad_between(commands) == []
    assert not any(Reason.QP_FAILED in found for found in events)
    return commands, events


@pytest.mark.parametrize(
    ("pattern", "name"),
    spread(
        itertools.product(("clash", "rub"), ROBOTS),
        *(("clash", name) for name in ("piper", "papras_7dof_2arm", "table4")),
        *(("rub", name) for name in ("ur5e", "papras_7dof", "g1", "table2")),
    ),
)
def test_no_target_brings_bodies_too_near(name, pattern):
    _, events = soak(name, pattern, seed=ROBOTS.index(name), n=500, h=0.01)

    assert sum(Reason.CLEARANCE in found for found in events) > 5


@pytest.mark.parametrize("h", [0.001, 0.002, 0.005, 0.01])
def test_clearance_is_kept_at_every_rate(h):
    soak("piper", "clash", seed=0, n=400, h=h)


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_no_target_brings_bodies_too_near_for_long(name, pattern):
    for seed, h in enumerate((0.001, 0.002, 0.005, 0.01)):
        soak(name, pattern, seed, n=5000, h=h)


@pytest.mark.parametrize("name", ["piper", "papras_7dof_2arm"])
def test_clearance_is_kept_from_a_scene(name):
    _, events = soak(name, "square", seed=1, n=500, scene=SCENES)

    assert any(Reason.CLEARANCE in found for found in events)


@pytest.mark.parametrize("name", ["table2", "table4"])
def test_arms_driven_at_each_other_stop_and_go_on_when_targets_part(name):
    robot = load(name)
    gate, judge = Gate(robot, h=H), Judge(robot, GateSettings())
    ahead = robot.home.copy()
    for limb in robot.limbs.values():
        ahead[limb.indices] = AHEAD

    inward, events, _ = drive(gate, [ahead] * 300)
    outward, _, _ = drive(gate, [robot.home] * 300)

    commands = np.concatenate([inward, outward])
    assert judge_joints(commands, robot).is_ok
    assert judge.find_bad(commands) == []
    assert any(Reason.CLEARANCE in found for found in events)
    assert gate.q_cmd == pytest.approx(robot.home, abs=1e-9)


def test_arms_that_cross_at_full_speed_keep_apart():
    robot = load("papras_7dof_2arm")
    gate, judge = Gate(robot, h=H), Judge(robot, GateSettings())
    left, right = (limb.indices for limb in robot.limbs.values())
    one, two = robot.home.copy(), robot.home.copy()
    one[left], one[right] = AHEAD, AHEAD
    two[left], two[right] = AHEAD, AHEAD
    one[left[0]], one[right[0]] = 1.5, -1.5
    two[left[0]], two[right[0]] = -1.5, 1.5  # each reaches for the other's base
    targets = [one] * 200 + [two] * 200

    commands, events, _ = drive(gate, targets)

    assert judge_joints(commands, robot).is_ok
    assert judge.find_bad(commands) == []
    assert judge.find_bad_between(commands, 4) == []
    assert any(Reason.CLEARANCE in found for found in events)
    assert np.abs(np.diff(commands, axis=0)).max() / H > 0.9 * robot.dq_max[0]


MEETING = [  # two arms that pass each other at 3 m/s, 36 mm in 10 ms
    (
        "-1.069 .735 .202 -1.363 .429 .109 .071 0 .935 .432 -.156 -.704 -.459 -.33 "
        "-.049 0",
        "- 0 - - + - 0 - 0 + + 0 + + + -",
    ),
    (
        "-.888 .477 .207 -.557 .162 .458 -.323 0 1.118 .892 -.477 -1.051 -.014 .015 "
        ".253 0",
        "- + - - 0 + 0 0 - - + + - - - +",
    ),
]


@pytest.mark.nightly
@pytest.mark.parametrize(("posture", "signs"), MEETING)
def test_stops_of_fast_arms_keep_clear_between_their_commands(posture, signs):
    robot, h, said = load("papras_7dof_2arm"), 0.01, set()
    parts, judge = Gate(robot, h=H)._parts, Judge(robot, GateSettings())
    q = np.array([float(x) for x in posture.split()])
    way = robot.dq_max * [{"-": -1.0, "0": 0.0, "+": 1.0}[x] for x in signs.split()]
    for share in (1.0, 0.9, 0.6, 0.3, 0.02):
        v = share * way
        limits.fill_box(parts.limits, h, 1.0, q, v, parts.box)
        clearance.measure_all(parts.collision, q, *np.full((2, len(q)), 10.0))

        is_safe = stops.verify_stop(parts.collision, parts.limits.ddq_max, h, q, v)

        path = [q, q + v * h]
        while v.any():
            v = np.sign(v) * np.maximum(np.abs(v) - robot.info.ddq_max * h, 0.0)
            path.append(path[-1] + v * h)
        said.add(is_safe)
        assert not is_safe or judge.find_bad_between(np.array(path), 8) == []
    assert True in said


LAGS = [(0.02, 0.02), (0.02, 0.08), (0.08, 0.08)]


@pytest.mark.parametrize("lags", LAGS, ids=str)
@pytest.mark.parametrize(
    ("name", "pattern", "least"),
    [("piper", "rub", 8.9), ("papras_7dof_2arm", "clash", 23.0)],
)
def test_the_robot_that_lags_behind_keeps_clear_too(name, pattern, least, lags):
    commands = soak_lagging(name, pattern, lags, seed=3, n=500)[0]

    assert (
        measure_way(commands) > least
    )  # [rad] chosen: some 0.6 of the way without lag


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("pattern", ["clash", "rub", "cross"])
def test_joints_whose_lags_differ_fourfold_keep_clear(pattern):
    """What closes arrives before what opens, which it has to wait for."""
    for seed in range(8):
        commands, ideal = soak_lagging("piper", pattern, (0.02, 0.08), seed, n=4000)
        assert measure_way(commands) > 0.78 * measure_way(ideal)


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("lags", LAGS, ids=str)
@pytest.mark.parametrize("name", ["piper", "papras_7dof_2arm", "table2"])
def test_the_robot_that_lags_behind_keeps_clear_for_long(name, lags):
    for seed, pattern in enumerate(("clash", "rub", "cross")):
        commands, ideal = soak_lagging(name, pattern, lags, seed, n=4000)
        assert measure_way(commands) > 0.78 * measure_way(ideal)


def soak_lagging(name, pattern, lags, seed, n):
    """Judge where the robot is, and all the way from there to its command.

    Returns its commands, and those of a robot that does not lag.
    """
    robot = load(name)
    judge, commands, postures, ideal = drive_lagging(robot, pattern, lags, seed, n)

    assert judge_joints(commands, robot).is_ok
    assert judge.find_bad(commands) == []
    for share in (0.0, 0.3, 0.6):
        assert judge.find_bad(postures + share * (commands - postures)) == []
    return commands, ideal


def measure_way(commands):
    return np.abs(np.diff(commands, axis=0)).sum()


def drive_lagging(robot, pattern, lags, seed, n):
    """Return the judge, and commands and postures, shape (n, joints).

    And the commands of a gate that is told of no robot behind them.
    """
    rng = np.random.default_rng(seed)
    gate, judge = Gate(robot, h=H), Judge(robot, GateSettings())
    servo = Servo(robot.home, rng.uniform(*lags, len(robot.home)))
    targets = list(make_targets(rng, robot, n, pattern, judge))
    commands, _, postures = drive(gate, targets, servo=servo)
    ideal, _, _ = drive(Gate(robot, h=H), targets)
    return judge, commands, postures, ideal


@pytest.mark.long
def test_distance_queries_of_a_period_are_bounded():
    robot, rng = load("g1"), np.random.default_rng(2)
    gate, judge = Gate(robot, h=H), Judge(robot, GateSettings())
    servo = Servo(robot.home, np.full(len(robot.home), 0.08))
    work = []
    for target in make_targets(rng, robot, 400, "rub", judge):
        servo.step(gate.step(target, H, q_meas=servo.q).q_cmd)
        work.append(float(gate._parts.collision.measured.n_queries[0]))

    budget = stops._MAX_QUERIES
    assert np.percentile(work, 90) > 0.5 * budget, "there is much to look at"
    assert max(work) < 2.0 * budget


def draw_too_near(robot, judge, rng):
    """Return a posture a little nearer than is kept, and its distances."""
    low, high = np.maximum(robot.q_min, -np.pi), np.minimum(robot.q_max, np.pi)
    while True:
        q = rng.uniform(low, high)
        distances = judge.model.clearances(q)
        if 0.0 < (judge.keep - distances).max() < judge.keep.max():
            return q, distances


@pytest.mark.parametrize("pattern", ["cross", "rub"])
@pytest.mark.parametrize("seed", range(3))
def test_a_start_too_near_never_comes_nearer(pattern, seed):
    robot, rng = load("piper"), np.random.default_rng(seed)
    gate, judge = Gate(robot, h=H), Judge(robot, GateSettings())
    start, distances = draw_too_near(robot, judge, rng)
    gate.reset(start)

    commands, _, _ = drive(gate, make_targets(rng, robot, 400, pattern, judge))
    between = 0.5 * (commands[1:] + commands[:-1])

    floor = np.minimum(judge.keep, distances) - 1e-4
    for q in np.concatenate([commands, between])[::3]:
        assert (judge.model.clearances(q) >= floor).all()
    assert judge.miss(commands[-1]) < 0.0, "it has come out, and stays out"


def test_a_limb_at_rest_is_not_moved_by_one_that_comes_near():
    robot = load("table2")
    gate = Gate(robot, h=H)
    left, right = (limb.indices for limb in robot.limbs.values())
    rest = robot.home.copy()
    rest[right] = AHEAD
    drive(gate, [rest] * 300)
    target = rest.copy()
    target[left] = AHEAD

    commands, events, _ = drive(gate, [target] * 300)

    assert any(Reason.CLEARANCE in found for found in events)
    assert (commands[:, right] == rest[right]).all()


def test_a_target_behind_an_obstacle_is_approached_along_it():
    box = SceneBodySettings(shape="box", size=(0.05, 0.8, 0.5), xyz=(0.5, 0.0, 0.2))
    settings = GateSettings(scene={"wall": box})
    robot = load("piper")
    gate, judge = Gate(robot, settings, h=H), Judge(robot, settings)
    limb = robot.limbs["arm"]
    start = gate.q_cmd.copy()
    start[0] = -0.8
    gate.reset(start)
    behind = start.copy()
    behind[:3] = 0.8, 2.1, -0.9  # through the wall, and along it

    commands, events, _ = drive(gate, [behind] * 800)

    before, after = (
        limb.fk(q[limb.indices]).translation for q in (start, commands[-1])
    )
    wanted = limb.fk(behind[limb.indices]).translation
    assert judge.find_bad(commands) == []
    assert any(Reason.CLEARANCE in found for found in events)
    assert np.linalg.norm(after - wanted) < 0.5 * np.linalg.norm(before - wanted)
    assert commands[-1][0] == pytest.approx(0.8, abs=0.05), "the way along it is free"


@pytest.mark.parametrize("name", ROBOTS)
def test_a_target_that_rests_is_reached_and_held_to_the_bit(name):
    robot = load(name)
    gate = Gate(robot, h=H)
    target = np.clip(robot.home + 0.05, gate.q_min, gate.q_max)

    commands, _, _ = drive(gate, [target] * 200)

    assert (commands[-100:] == target).all()


def test_the_end_of_a_blocked_motion_is_held():
    robot = load("piper")
    gate, judge = Gate(robot, h=H), Judge(robot, GateSettings())
    for seed in range(5):
        gate.reset(robot.home)
        clash = judge.draw_clash(np.random.default_rng(seed), robot)

        commands, _, _ = drive(gate, [clash] * 2000)

        assert np.abs(np.diff(commands[-100:], axis=0)).max() < 1e-5


@pytest.mark.nightly
@pytest.mark.parametrize("lag", [0.0, 0.03, 0.08])
def test_slack_is_what_is_left_beside_the_robot_too(lag):
    gate = Gate(make_sliders(), h=H)
    collision, c = gate._parts.collision, np.array([0.3, 0.3])
    measured, scratch = collision.measured, collision.scratch
    distance = clearance.measure_all(collision, c, np.zeros(2), np.zeros(2))
    scratch.pending[0], scratch.min_allowed[0] = 0, 0.01
    scratch.distance_lower_bound[0] = distance
    scratch.slack[0], scratch.max_change[0] = distance - 0.01, 1.0
    measured.max_change_to_meas[0] = 2.0 * lag

    assert stops._check_to_meas(collision, c, np.full(2, lag), 1, False)

    assert scratch.slack[0] == pytest.approx(distance - 0.01 - 2.0 * lag)
