import numpy as np

from benchmarks.peers.targets import Fk
from benchmarks.peers.with_solve import make_solver


def test_the_library_by_itself_reaches_what_is_near(ur5e):
    solver = make_solver(ur5e.problem, "without")
    q = ur5e.model.home
    T = Fk(ur5e)(q + 0.05)

    solver.reset(q)
    solver.step(solver.prepare(T))

    np.testing.assert_allclose(Fk(ur5e)(solver.read()[0]), T, atol=1e-5)
