"""The kernels, uncompiled, are their own reference."""

import os
import subprocess
import sys

import numpy as np
import pytest
from arms import ROOT

ANSWERS = """
import sys
sys.path[:0] = ["tests/support/arms"]
import numpy as np
from arms import draw_q, load_limb
from paprle.kinematics import IkSolver
rng = np.random.default_rng(2)
for name in ("piper", "papras_7dof", "open_manipulator_x", "so101"):
    limb = load_limb(name)
    solver = IkSolver(limb)
    for size in (0.01, 0.3, 3.0):
        q = draw_q(limb, rng, 0.0)
        goal = np.clip(q + rng.uniform(-size, size, len(q)), limb.q_min, limb.q_max)
        for solve in (solver.solve, solver.solve_global):
            found = solve(limb.fk(goal), q)
            print(*found.q, *found[1:])
"""


@pytest.mark.nightly
@pytest.mark.long
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

    assert len(compiled) == 24
    for answer, reference in zip(compiled, plain, strict=True):
        np.testing.assert_allclose(answer, reference, rtol=0, atol=1e-12)
