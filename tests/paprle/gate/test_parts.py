"""The gate's parts, one by one, against what adding up period by period gives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from adversary import drive, judge_joints
from lock_step import LockStep
from minimal_robots import make_crooked, make_elbow

from paprle.contracts.errors import ConfigError
from paprle.contracts.settings.core import GateSettings, LimbSettings
from paprle.gate import limits
from paprle.gate import tcp_limits as tools
from paprle.gate.contact import clearance
from paprle.gate.contact.scene import place_bodies_at
from paprle.gate.gate import Gate, compute_command_limits
from paprle.gate.reasons import Reason
from paprle.gate.watchdogs import SetpointWatch
from paprle.robot import RobotModel, arrays, braking
from paprle.testing.robots import make_robot_info

H, A = 0.01, 5.0
LOW, HIGH = -1.0, 1.0


def travel(v):
    """Return how far a joint goes at v and then braking, period by period."""
    way, v = v * H, v - A * H
    while v > 1e-12:
        way, v = way + v * H, v - A * H
    return way


@pytest.mark.parametrize("v", [0.0, 0.01, 0.05, 0.0500001, 0.1, 0.333, 1.7])
def test_the_stopping_speed_is_the_one_that_stops_there(v):
    assert braking.compute_stopping_speed(travel(v), A, H) == pytest.approx(v, abs=1e-9)
    assert braking.compute_stopping_distance(v, A, H) == pytest.approx(
        travel(v) - v * H
    )


@pytest.mark.parametrize(
    ("distance", "speed"),
    [(-1.0, 0.0), (0.0, 0.0), (1e-4, 0.01), (np.inf, None), (1e9, None)],
)
def test_stopping_speeds_at_the_ends(distance, speed):
    expected = math.sqrt(2 * A * 1e6) if speed is None else speed

    found = braking.compute_stopping_speed(distance, A, H)

    assert found == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(("v", "after"), [(0.3, 0.25), (-0.3, -0.25), (0.02, 0.0)])
def test_braking_takes_off_a_times_h(v, after):
    assert braking.compute_braking_velocity(v, A, H) == pytest.approx(after)


def fill(c, v, scale=1.0):
    """Return the box of one joint."""
    gate = Gate(make_robot_info(1, q_min=LOW, q_max=HIGH, dq_max=1.0, ddq_max=A), h=H)
    parts = gate._parts
    limits.fill_box(
        parts.limits, H, scale, np.array([float(c)]), np.array([float(v)]), parts.box
    )
    return [float(parts.box[k][0]) for k in range(3)]


@pytest.mark.parametrize(
    ("c", "v", "scale", "expected"),
    [
        (0.0, 0.0, 1.0, (0.0, -0.05, 0.05)),
        (0.0, 0.5, 1.0, (0.45, 0.45, 0.55)),
        (0.0, -0.5, 1.0, (-0.45, -0.55, -0.45)),
        (0.0, 1.0, 1.0, (0.95, 0.95, 1.0)),
        (0.0, 1.0, 0.5, (0.95, 0.95, 0.95)),  # slowed down by A, not at once
        (0.0, 0.3, 0.2, (0.25, 0.25, 0.25)),
        (0.0, 0.02, 1.0, (0.0, -0.03, 0.07)),
        (0.98, 0.0, 1.0, (0.0, -0.05, 0.0)),  # 0.02 of margin
        (-0.98, 0.0, 1.0, (0.0, 0.0, 0.05)),
        (1.5, 0.0, 1.0, (0.0, -0.05, 0.0)),  # outside: only back in
        (-1.5, 0.0, 1.0, (0.0, 0.0, 0.05)),
        (0.9795, 0.0, 1.0, (0.0, -0.05, 0.05)),
        (0.9798, 0.0, 1.0, (0.0, -0.05, 0.02)),
    ],
)
def test_the_box_is_what_a_joint_may_do(c, v, scale, expected):
    brake, low, high = fill(c, v, scale)

    assert (brake, min(low, brake), max(high, brake)) == pytest.approx(expected)


def clip(target, c=0.0, q_meas=None):
    robot = make_robot_info(1, q_min=LOW, q_max=HIGH, has_gripper=True)
    gate = Gate(robot, GateSettings(lag_bound=0.1), h=H)
    motion = gate._parts.motion
    motion.q_cmd[:], motion.target[:] = c, target
    motion.q_meas[:] = np.nan if q_meas is None else q_meas
    flags = limits.clip_goal(gate._parts.limits, motion, q_meas is not None)
    return motion.goal.tolist(), flags


@pytest.mark.parametrize(
    ("target", "c", "q_meas", "goal"),
    [
        (0.5, 0.0, None, [0.5, 0.5]),
        (2.0, 0.0, None, [0.98, 1.0]),
        (-2.0, 0.0, None, [-0.98, -1.0]),
        (2.0, 1.5, None, [1.5, 1.5]),
        (-2.0, -1.5, None, [-1.5, -1.5]),
        (0.0, 1.5, None, [0.0, 0.0]),
        (0.5, 0.0, 0.2, [0.3, 0.5]),
        (-0.5, 0.0, 0.2, [0.1, -0.5]),
        (0.5, 0.0, 1.2, [0.98, 0.5]),
        (0.5, 0.0, -1.2, [-0.98, 0.5]),
    ],
)
def test_goals_are_within_limits_and_within_the_lag_bound(target, c, q_meas, goal):
    found, flags = clip(target, c, q_meas)

    assert found == pytest.approx(goal)
    assert (flags == limits.IS_CLIPPED) == (found != [target, target])


def test_command_limits_keep_a_margin_that_never_takes_a_small_range():
    robot = make_robot_info(
        2, q_min=[0.0, 0.0, 0.0], q_max=[0.1, 2.0, 2.0], has_gripper=True
    )

    low, high = compute_command_limits(robot, GateSettings(position_margin=0.02))

    assert low == pytest.approx([0.005, 0.02, 0.0])
    assert high == pytest.approx([0.095, 1.98, 2.0])


def test_a_limb_turns_by_braking_along_both():
    gate = Gate(make_robot_info(2, dq_max=1.0, ddq_max=A), h=H)
    drive(gate, [np.array([1.5, 0.0])] * 60, H)

    events = gate.step(np.array([gate.q_cmd[0], 1.5]), H).events

    assert Reason.ACCELERATION in events
    assert gate.dq_cmd[0] == pytest.approx(0.95)
    assert 0.0 <= gate.dq_cmd[1] <= 0.05


def test_reasons_are_given_only_where_they_act():
    gate = Gate(make_robot_info(1, dq_max=1.0, ddq_max=A), h=H)
    quiet = gate.step(np.array([1e-4]), H).events
    gate.step(np.array([1e-4]), H)
    hurried = gate.step(np.array([1.5]), H).events
    outside = gate.step(np.array([5.0]), H).events

    assert quiet == ()
    assert set(hurried) == {Reason.VELOCITY, Reason.ACCELERATION}
    assert set(outside) == {Reason.POSITION, Reason.VELOCITY, Reason.ACCELERATION}


def test_groups_are_limbs_and_every_other_joint_alone():
    robot = make_robot_info(2, n_limbs=2, has_gripper=True)

    members, starts = limits.make_groups(robot)

    groups = [
        members[a:b].tolist() for a, b in zip(starts[:-1], starts[1:], strict=True)
    ]
    assert groups == [[0, 1], [3, 4], [2], [5]]


@pytest.fixture
def elbow():
    return make_elbow()


def fill_jacobian(parts, q):
    """Fill the Jacobian of the first tool in a posture."""
    scene, _, measured, scratch = parts.collision
    place_bodies_at(scene, q, scratch.placed, measured.n_queries)
    tools._fill_jacobian(parts.tools, scene.tree, scratch.placed, 0)


def test_jacobians_of_tools_are_those_of_the_limb(elbow):
    gate, rng = Gate(elbow, h=H, allow_no_bodies=True), np.random.default_rng(0)
    parts, limb = gate._parts, elbow.limbs["arm"]
    for _ in range(10):
        q = rng.uniform(-1.5, 1.5, 4)
        fill_jacobian(parts, q)

        J = np.kron(np.eye(2), limb.fk(q).rotation) @ limb.jacobian(q)  # root's axes
        J[3:] *= 0.2
        assert pytest.approx(J, abs=1e-9) == parts.tools.J
        assert parts.tools.tips[0, 0] == pytest.approx(limb.fk(q).translation)
        for m in (3, 4):
            expected = np.linalg.svd(J[:m], compute_uv=False)[-1]
            assert tools.find_sigma(parts.tools, m) == pytest.approx(expected, abs=1e-7)
        speed = np.linalg.norm(J[:3] @ np.ones(4))
        assert tools._find_speed(parts.tools, np.ones(4)) == pytest.approx(speed)


def test_joints_of_others_are_not_a_limbs(elbow):
    gate = Gate(elbow, h=H, allow_no_bodies=True)
    parts = gate._parts
    parts.tools.is_member[0, 0] = 0

    fill_jacobian(parts, elbow.home)

    assert (parts.tools.J[:, 0] == 0.0).all()
    assert parts.tools.J[:, 1].any()


def test_a_tool_on_the_root_stays_where_it_is(elbow):
    gate, place = Gate(elbow, h=H, allow_no_bodies=True), np.zeros(3)
    parts = gate._parts
    parts.tools.p[0] = [1.0, 2.0, 3.0]

    tools._fill_place(parts.tools, parts.collision.scratch.placed, 0, -1, place)

    assert place.tolist() == [1.0, 2.0, 3.0]


def test_without_bodies_nothing_is_near(elbow):
    gate = Gate(elbow, h=H, allow_no_bodies=True)
    parts = gate._parts

    c, travel = elbow.home.copy(), np.ones(4)
    assert clearance.measure_all(parts.collision, c, travel, travel) == math.inf
    assert gate.step(elbow.home, H).clearance == math.inf


@pytest.mark.parametrize(
    ("wanted", "room", "allowed"),
    [
        # both close, 0.4 + 0.2 m/s; they stop like one of A (0.6)² / (0.4² + 2 · 0.1²)
        ((0.4, 0.1, 0, 0), 0.02, ("stop", A * 0.36 / 0.18)),
        ((0.4, -0.1, 0, 0), 0.02, ("stop", A)),  # the second opens
        ((-0.4, -0.1, 0, 0), 0.02, ("stop", 3.0 * A)),  # nothing closes: all may brake
        ((9.0, 0.0, 0, 0), 0.02, ("stop", A)),  # no more than the box is counted on
        ((0.4, 0.1, 0, 0), -1e-4, ("open", 0.05 * 1e-4 / H)),
        ((0.004, 0.001, 0, 0), -1.0, ("open", 0.05 * 0.006)),
        ((0.0, 0.0, 0, 0), -1.0, ("open", 0.0)),
    ],
)
def test_a_pair_may_close_as_fast_as_its_joints_can_stop(elbow, wanted, room, allowed):
    gate, row = Gate(elbow, h=H, allow_no_bodies=True), np.array([-1.0, -2.0, 0.0, 0.0])
    box = gate._parts.box
    box.dq_goal[:], box.low[:], box.high[:] = wanted, -1.0, 1.0

    found = clearance._find_allowed(gate._parts.limits, H, box, row, room)

    kind, value = allowed
    if kind == "stop":
        value = -braking.compute_stopping_speed(room, 0.8 * value, H)
    assert found == pytest.approx(-value)


@pytest.mark.parametrize("seed", range(5))
def test_a_row_is_how_the_distance_changes_with_each_joint(seed):
    robot = make_crooked()
    parts = Gate(robot, h=H, allow_no_bodies=True)._parts
    scene, _, measured, scratch = parts.collision
    row, travel = np.empty(4), np.zeros(4)
    c = np.random.default_rng(seed).uniform(-1.5, 1.5, 4)

    def find_distance(q):
        return clearance.measure_all(parts.collision, q, travel, travel)

    slopes = [
        (find_distance(c + step) - find_distance(c - step)) / 2e-6
        for step in 1e-6 * np.eye(4)
    ]
    find_distance(c)
    clearance.fill_gradient(scene, measured.at_command, 0, scratch.witness, row)

    assert row == pytest.approx(slopes, abs=1e-6)
    assert np.abs(slopes).min() > 1e-3, "each of them matters"


def test_the_bound_on_a_pairs_change_adds_up_over_joints():
    rng = np.random.default_rng(0)
    table, travel = rng.uniform(0, 2, (4, 9)), rng.uniform(0, 3, 4)
    table[rng.random((4, 9)) < 0.5] = 0.0
    table[:, 3] = 0.0
    reach = arrays.make_reach(table)

    change = [arrays.bound_change(reach, k, travel) for k in range(9)]

    assert change == pytest.approx(travel @ table)
    assert (reach.rate > 0.0).all(), "what a joint does not change is not gone through"


def test_a_pair_that_a_joint_hardly_moves_is_slowed_too(elbow):
    parts, row = (
        Gate(elbow, h=H, allow_no_bodies=True)._parts,
        np.array([-1e-3, 0.0, 0.0, 0.0]),
    )
    parts.box.dq_goal[:], parts.box.low[:], parts.box.high[:] = 0.4, -1.0, 1.0

    allowed = clearance._find_allowed(parts.limits, H, parts.box, row, 0.02)

    assert allowed == pytest.approx(braking.compute_stopping_speed(0.02, 8e-4 * A, H))


def test_a_pair_without_moving_joints_has_no_bound(elbow):
    gate = Gate(elbow, h=H, allow_no_bodies=True)
    parts = gate._parts

    allowed = clearance._find_allowed(parts.limits, H, parts.box, np.zeros(4), 0.1)

    assert allowed == math.inf


def test_the_reach_of_a_tool_bounds_its_speed_and_not_by_far(elbow):
    joint, T = elbow.link_places["hand"]
    reach = tools._find_reach(elbow, joint, T)
    rng, limb = np.random.default_rng(0), elbow.limbs["arm"]
    speeds = [
        np.linalg.norm(limb.jacobian(rng.uniform(-2, 2, 4))[:3], axis=0)
        for _ in range(300)
    ]

    assert (np.max(speeds, axis=0) <= reach).all()
    assert reach == pytest.approx([2.7008, 2.7008, 2.3008, 1.0], abs=1e-4)


def test_a_stop_is_slow_if_each_of_its_periods_is(elbow):
    gate, rng, said = (
        Gate(elbow, h=H, allow_no_bodies=True),
        np.random.default_rng(3),
        set(),
    )
    parts, limb = gate._parts, elbow.limbs["arm"]
    for _ in range(60):
        q, v = rng.uniform(-1, 1, 4), rng.uniform(-1, 1, 4)
        path, speed = [limb.fk(q).translation], v.copy()
        at = q.copy()
        while speed.any():
            at = at + speed * H
            path.append(limb.fk(at).translation)
            speed = np.sign(speed) * np.maximum(np.abs(speed) - A * H, 0.0)
        fastest = np.linalg.norm(np.diff(path, axis=0), axis=1).max() / H
        for share in (0.99, 1.01):
            parts.tools.speed[0] = share * fastest
            found = tools.are_slow(
                parts.tools, parts.collision, parts.limits.ddq_max, H, q, v
            )
            said.add((share, found))
    parts.tools.speed[0] = np.inf

    assert said == {(0.99, False), (1.01, True)}
    assert tools.are_slow(parts.tools, parts.collision, parts.limits.ddq_max, H, q, v)


@pytest.mark.parametrize("limit", [0.05, 0.2])
def test_a_tool_in_space_keeps_its_speed(elbow, limit):
    gate, rng = (
        Gate(elbow, GateSettings(tool_speed=limit), h=H, allow_no_bodies=True),
        np.random.default_rng(1),
    )
    targets = np.repeat(rng.uniform(-1, 1, (4, 4)), 40, axis=0)

    path, _, _ = drive(gate, targets, H)

    p = [elbow.limbs["arm"].fk(q).translation for q in [elbow.home, *path]]
    speeds = np.linalg.norm(np.diff(p, axis=0), axis=1) / H
    assert speeds.max() <= limit * (1 + 1e-9)
    assert np.percentile(speeds, 90) > 0.9 * limit
    assert judge_joints(path, elbow, H).is_ok


def test_an_arm_slows_towards_its_own_axis_and_not_on_its_way_back(elbow):
    up, aside = np.array([0.0, -1.55, 0.0, 0.0]), np.array([0.0, -1.0, 0.0, 0.0])
    paths = {}
    for sigma in (0.0, 0.1):
        gate = Gate(elbow, GateSettings(singularity=sigma), h=H, allow_no_bodies=True)
        gate.reset(aside)
        there, events, _ = drive(gate, [up] * 250, H)
        gate.reset(up)
        back, _, _ = drive(gate, [aside] * 100, H)
        paths[sigma] = there, back, [Reason.SINGULARITY in found for found in events]

    (plain, plain_back, never), (slow, slow_back, slowed) = paths.values()
    first = slowed.index(True)
    assert not any(never)
    assert (plain[:first] == slow[:first]).all(), "not before it is near"
    assert (plain_back == slow_back).all(), "leaving is free"
    assert slow[-1] == pytest.approx(up, abs=1e-3), "slow, not stopped"
    limb, speeds = elbow.limbs["arm"], -np.diff(slow[:, 1], prepend=slow[0, 1]) / H
    for k in range(1, len(slow) - 1):
        sigma = np.linalg.svd(limb.jacobian(slow[k])[:3], compute_uv=False)[-1]
        is_near = sigma < 0.1 and speeds[k + 1] > 1e-3  # slower than that hardly nears
        assert slowed[k + 1] == is_near or speeds[k + 1] <= 1e-3
        if slowed[k + 1]:
            share = max(0.1, sigma / 0.1)
            assert speeds[k + 1] <= max(share, speeds[k] - A * H) + 1e-9


def test_a_watch_latches_after_long_silence():
    watch, session = SetpointWatch(GateSettings()), LockStep()
    session.step(2)
    watch.update(session.setpoint.copy(), 0)

    assert watch.check(1_000_000_001) == (Reason.COMMAND_LOST,)
    assert watch.check(1_000_000_000) == (Reason.COMMAND_STALE,)
    assert watch.check(0) == ()


def test_a_set_point_is_good_for_two_tenths_of_a_second_at_most():
    watch, session = SetpointWatch(GateSettings(stale_after=0.5)), LockStep()
    session.step(2)
    setpoint = session.setpoint.copy()
    setpoint["valid_for_ns"] = 10**12
    watch.update(setpoint, 0)

    assert watch.check(200_000_000) == ()
    assert watch.check(200_000_001) == (Reason.COMMAND_STALE,)


def test_a_tool_that_nothing_bounds_is_refused(tmp_path):
    (tmp_path / "r.urdf").write_text(
        """<robot name='r'><link name='base'/><link name='mid'/>
        <link name='wheel'/><link name='rack'/>
        <joint name='j' type='revolute'><parent link='base'/><child link='mid'/>
          <limit lower='-1' upper='1' velocity='1'/></joint>
        <joint name='w' type='continuous'><parent link='mid'/><child link='wheel'/>
          <limit velocity='1'/></joint>
        <joint name='s' type='prismatic'><parent link='mid'/><child link='rack'/>
          <limit lower='0' upper='1' velocity='1'/><mimic joint='w'/></joint>
        </robot>"""
    )
    limbs = {"arm": LimbSettings(base_link="base", eef_link="rack")}
    robot = RobotModel.from_urdf(tmp_path / "r.urdf", limbs)

    with pytest.raises(ConfigError, match="link 'rack' has unbounded reach: a pris"):
        Gate(robot, h=H, allow_no_bodies=True)
