import numpy as np
import pytest
from arms import FULL, draw_q, load_limb

from paprle.kinematics import IkSolver


@pytest.mark.parametrize("name", FULL)
def test_all_reachable_targets_are_found_from_afar(name):
    rng = np.random.default_rng(3)
    limb = load_limb(name)
    solver = IkSolver(limb)

    found = [
        solver.solve_global(limb.fk(draw_q(limb, rng)), limb.home) for _ in range(200)
    ]

    assert np.mean([f.err_pos < 1e-4 and f.err_rot < 1e-3 for f in found]) == 1.0
