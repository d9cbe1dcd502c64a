import numpy as np

from benchmarks.peers.targets import Fk
from benchmarks.peers.with_upstream import make_solver
from benchmarks.peers.worker import iterate


def test_steps_come_nearer_and_keep_the_speed_limit(ur5e):
    solver = make_solver(ur5e.problem, "without")
    home, fk = ur5e.model.home, Fk(ur5e)
    T = fk(home + 0.05)
    targets = solver.prepare(T)
    far = np.linalg.norm(fk(home)[0, :3, 3] - T[0, :3, 3])

    for _ in range(20):
        before = solver.read()[0]
        solver.step(targets)
        step = np.abs(solver.read()[0] - before)

        assert (step <= ur5e.model.dq_max * ur5e.problem.dt + 1e-12).all()

    assert np.linalg.norm(fk(solver.read()[0])[0, :3, 3] - T[0, :3, 3]) < 0.1 * far


def test_a_target_in_which_bodies_touch_is_not_followed(ur5e):
    solver = make_solver(ur5e.problem, "with")
    rng = np.random.default_rng(0)
    low, high = ur5e.model.q_min / 2, ur5e.model.q_max / 2
    touching = next(
        q
        for q in rng.uniform(low, high, (1000, 6))
        if ur5e.judge.min_clearance(q) < -0.01
    )
    solver.reset(touching)

    solver.step(solver.prepare(Fk(ur5e)(touching)))

    assert (solver.read()[0] == touching).all()


class Halving:
    """A solver whose error halves with every step, until it gets stuck."""

    def __init__(self, n_steps):
        self.n_steps = n_steps

    def reset(self, q):
        self.error, self.left = float(q[0]), self.n_steps

    def step(self, _):
        self.error, self.left = self.error / 2, self.left - 1
        return self.left >= 0

    def read(self):
        return np.array([self.error]), None


def test_iterating_restarts_where_a_solver_gets_stuck():
    solver = Halving(n_steps=3)

    q, n = iterate(solver, None, np.array([[1.0], [4e-4]]), lambda: (solver.error, 0))

    assert n == 2
    assert q[0] < 1e-4
