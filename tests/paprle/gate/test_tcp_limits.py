"""Cartesian speed (C2) and care near singularities (C3), judged by pinocchio."""

from __future__ import annotations

import numpy as np
import pytest
from adversary import H, drive, judge_joints, load, make_targets

from paprle.contracts.settings.core import GateSettings
from paprle.gate import tcp_limits as gate_tools
from paprle.gate.contact.scene import place_bodies_at
from paprle.gate.gate import Gate
from paprle.gate.reasons import Reason


def measure_speeds(robot, commands, h=H):
    """Return the speed of each tool over each period, shape (limbs, N - 1), [m/s]."""
    return np.array(
        [
            np.linalg.norm(np.diff(places, axis=0), axis=1) / h
            for limb in robot.limbs.values()
            if (places := [limb.fk(q[limb.indices]).translation for q in commands])
        ]
    )


@pytest.mark.long
@pytest.mark.parametrize("name", ["piper", "ur5e", "papras_7dof_2arm", "table2"])
@pytest.mark.parametrize("pattern", ["square", "points", "cross"])
@pytest.mark.parametrize("limit", [0.05, 0.5])
def test_no_tool_is_faster_than_its_limit(name, pattern, limit):
    robot, rng = load(name), np.random.default_rng(1)
    gate = Gate(robot, GateSettings(tool_speed=limit), h=H)

    commands, events, _ = drive(gate, make_targets(rng, robot, 300, pattern))

    speeds = measure_speeds(robot, [robot.home, *commands])
    assert speeds.max() <= limit * (1 + 1e-9)
    assert speeds.max() > 0.9 * limit, "it is used up, too"
    assert any(Reason.TOOL_SPEED in found for found in events)
    assert judge_joints(commands, robot).is_ok


@pytest.mark.long
@pytest.mark.parametrize("name", ["ur5e", "papras_7dof"])
@pytest.mark.parametrize("h", [0.001, 0.01])
def test_reduced_in_motion_tools_are_slow_once_braking_has_had_time(name, h):
    robot, rng = load(name), np.random.default_rng(2)
    gate = Gate(robot, h=h)
    n = round(0.6 / h)  # time to reach full speed
    target = make_targets(rng, robot, 1, "points", spoil=0.0)[0]
    first, _, _ = drive(gate, [target] * n, h)
    gate.reduce(is_reduced=True)
    targets = np.repeat(make_targets(rng, robot, 4, "edge", spoil=0.0), n, axis=0)

    second, _, _ = drive(gate, targets, h)

    assert measure_speeds(robot, first, h).max() > 0.5
    late = second[round(0.35 / h) :]
    assert measure_speeds(robot, late, h).max() <= 0.25 * (1 + 1e-9)
    assert (np.abs(np.diff(late, axis=0)) <= 0.25 * robot.dq_max * h + 1e-12).all()
    assert judge_joints(np.concatenate([first, second]), robot, h).is_ok


def test_no_tool_is_faster_than_2_m_per_s_unless_told():
    robot = load("ur5e")
    stretched = np.array([3.0, -0.2, 0.2, 0.0, 0.0, 0.0])
    gates = (
        Gate(robot, settings, h=H) for settings in (None, GateSettings(tool_speed=None))
    )
    speeds = []
    for gate in gates:
        drive(gate, [[0.0, -0.2, 0.2, 0.0, 0.0, 0.0]] * 800)
        path, _, _ = drive(gate, [stretched] * 400)
        speeds.append(measure_speeds(robot, path).max())

    assert speeds[0] <= 2.0 * (1 + 1e-9)
    assert speeds[1] > 2.0, "it would be"


def test_a_lower_tool_speed_never_hurries():
    robot = load("ur5e")
    target = robot.home + [1.0, -0.3, 0.4, 0.2, 0.1, 0.5]
    paths = [
        drive(Gate(robot, GateSettings(tool_speed=limit), h=H), [target] * 100)[0]
        for limit in (0.1, 0.3, None)
    ]

    gone = [np.abs(path - robot.home).sum(axis=1) for path in paths]

    assert (gone[0] <= gone[1] + 1e-12).all()
    assert (gone[1] <= gone[2] + 1e-12).all()


def find_sigma(limb, q):
    J = limb.jacobian(q).copy()
    J[3:] *= 0.2
    return np.linalg.svd(J, compute_uv=False)[-1]


def stretch(robot, angle):
    q = robot.home.copy()
    q[2] = angle  # the elbow: 0 is stretched out
    return q


@pytest.mark.long
def test_towards_a_singularity_motion_slows_and_away_from_it_not():
    robot = load("ur5e")
    limb = robot.limbs["arm"]
    careful, plain = (
        Gate(robot, GateSettings(singularity=s), h=H) for s in (0.05, 0.0)
    )
    near, far = stretch(robot, 0.02), stretch(robot, 1.5)

    there, events, _ = drive(careful, [near] * 400)
    back, back_events, _ = drive(careful, [far] * 400)
    reference, _, _ = drive(plain, [near] * 400)
    plain.reset(near)
    careful.reset(near)
    away, _, _ = drive(careful, [far] * 200)
    reference_away, _, _ = drive(plain, [far] * 200)

    slowed = [
        q for q, found in zip(there, events, strict=True) if Reason.SINGULARITY in found
    ]
    assert slowed
    assert all(find_sigma(limb, q) < 0.06 for q in slowed)
    assert not any(Reason.SINGULARITY in found for found in back_events)
    assert (away == reference_away).all(), "leaving is never slowed"
    assert np.abs(there - near).sum() > np.abs(reference - near).sum()
    assert there[-1] == pytest.approx(near, abs=1e-6), "slowed, not stopped"
    assert judge_joints(np.concatenate([there, back]), robot).is_ok


def test_far_from_singularities_nothing_is_slowed():
    robot = load("ur5e")
    target = robot.home + 0.1
    careful, plain = (
        drive(Gate(robot, GateSettings(singularity=s), h=H), [target] * 100)[0]
        for s in (0.02, 0.0)
    )

    assert (careful == plain).all()


@pytest.mark.nightly
def test_the_smallest_singular_value_is_that_of_numpy():
    rng = np.random.default_rng(0)
    for name in ("ur5e", "papras_7dof_2arm", "open_manipulator_x", "so101"):
        robot = load(name)
        gate = Gate(robot, h=H)  # holds the memory
        parts = gate._parts
        scene, _, measured, scratch = parts.collision
        for _ in range(20):
            q = rng.uniform(np.maximum(robot.q_min, -3), np.minimum(robot.q_max, 3))
            place_bodies_at(scene, q, scratch.placed, measured.n_queries)
            for row, limb in enumerate(robot.limbs.values()):
                gate_tools._fill_jacobian(parts.tools, scene.tree, scratch.placed, row)
                m = 6 if len(limb.indices) >= 6 else 3
                J = limb.jacobian(q[limb.indices]).copy()
                J[3:] *= 0.2
                expected = np.linalg.svd(J[:m], compute_uv=False)[-1]
                assert gate_tools.find_sigma(parts.tools, m) == pytest.approx(
                    expected, abs=2e-8
                )
