"""All limbs at once, and the kernels uncompiled, answer like one limb alone."""

import os
import subprocess
import sys

import numpy as np
import pytest
from arms import ROOT, draw_nearby, draw_q, load_robot

from paprle.kinematics import IkSolver, LimbsSolver

ROBOTS = ["papras_7dof", "papras_7dof_2arm", "g1"]


def draw(robot, rng):
    """Return a robot position and targets near it, by limb."""
    q, targets = np.array(robot.home), []
    for limb in robot.limbs.values():
        q_limb = draw_q(limb, rng, 0.0)
        q = limb.put(q, q_limb)
        targets.append(limb.fk(draw_nearby(limb, q_limb, rng, 0.05)))
    return q, targets


def stack(targets):
    R = np.array([T.rotation for T in targets])
    return R, np.array([T.translation for T in targets])


@pytest.mark.parametrize("name", ROBOTS)
def test_limbs_together_answer_as_each_alone(name):
    robot, rng = load_robot(name), np.random.default_rng(1)
    limbs = list(robot.limbs.values())
    together = LimbsSolver(limbs, position_margin=0.02)
    alone = [IkSolver(limb, position_margin=0.02) for limb in limbs]
    reach = np.linspace(0.05, 0.2, len(limbs))

    for _ in range(50):
        q_start, targets = draw(robot, rng)
        q = q_start.copy()
        err_pos, err_rot, is_converged = together.solve(*stack(targets), q, reach)

        found = [
            s.solve(T, s.limb.take(q_start), max_step=r)
            for s, T, r in zip(alone, targets, reach, strict=True)
        ]
        expected = q_start
        for limb, f in zip(limbs, found, strict=True):
            expected = limb.put(expected, f.q)
        np.testing.assert_array_equal(q, expected)
        np.testing.assert_array_equal(err_pos, [f.err_pos for f in found])
        np.testing.assert_array_equal(err_rot, [f.err_rot for f in found])
        assert is_converged == all(f.is_converged for f in found)


def test_limbs_of_which_nothing_is_asked_stay_where_they_are():
    robot = load_robot("g1")
    limbs = list(robot.limbs.values())
    R, p = stack([limb.fk(limb.home + 0.01) for limb in limbs])
    p[[0, 2]] = np.nan
    q = np.array(robot.home)

    err_pos, err_rot, is_converged = LimbsSolver(limbs).solve(R, p, q, np.full(4, 0.2))

    assert is_converged
    for i, limb in enumerate(limbs):
        moved = 0.0 if i in {0, 2} else 0.01
        np.testing.assert_allclose(limb.take(q) - limb.home, moved, atol=1e-3)
        assert np.isnan(err_pos[i]) == np.isnan(err_rot[i]) == (i in {0, 2})


ANSWERS = """
import sys
sys.path[:0] = ["tests/support"]
import numpy as np
from arms import draw_q, load_limb
from paprle.kinematics import IkSolver
rng = np.random.default_rng(2)
for name in ("piper", "papras_7dof", "open_manipulator_x"):
    limb = load_limb(name)
    solver = IkSolver(limb)
    for size in (0.01, 0.3, 3.0):
        q = draw_q(limb, rng, 0.0)
        goal = np.clip(q + rng.uniform(-size, size, len(q)), limb.q_min, limb.q_max)
        for solve in (solver.solve, solver.solve_global):
            found = solve(limb.fk(goal), q)
            print(*found.q, *found[1:])
"""


def test_uncompiled_kernels_give_the_same_answers():
    outputs = [
        subprocess.run(
            [sys.executable, "-c", ANSWERS],
            cwd=ROOT,
            env={**os.environ, "NUMBA_DISABLE_JIT": flag},
            capture_output=True,
            text=True,
            check=True,
        )
        .stdout.replace("True", "1")
        .replace("False", "0")
        for flag in "01"
    ]

    compiled, plain = (
        [np.array(line.split(), dtype=float) for line in out.splitlines()]
        for out in outputs
    )

    assert len(compiled) == 18
    for answer, reference in zip(compiled, plain, strict=True):
        np.testing.assert_allclose(answer, reference, rtol=0, atol=1e-12)
