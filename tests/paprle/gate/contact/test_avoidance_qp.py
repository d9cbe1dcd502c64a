"""Solvers that fail, lie or raise: the gate stays safe, and says so."""

from __future__ import annotations

import numpy as np
import osqp  # the test kit has it: without it these tests fail, and do not skip
import pytest
from adversary import Judge, drive, judge_joints, load

from paprle.contracts.settings.core import GateSettings
from paprle.gate.contact import avoidance_qp
from paprle.gate.contact.avoidance_qp import (
    SOLVERS,
    AvoidanceProblem,
    solve_avoidance_qp,
    solve_limb_by_limb,
)
from paprle.gate.gate import Gate
from paprle.gate.reasons import Reason


def fail(*_problem):
    raise RuntimeError("singular")


def solve_outside(*problem):
    return SOLVERS["daqp"](*problem) + 2e-3


def pose(wanted, low, high, rows, allowed):
    """Return a problem whose joints all count the same."""
    return AvoidanceProblem(wanted, low, high, rows, allowed, np.eye(len(wanted)))


@pytest.mark.parametrize("sides", [[1.0], [1.0, -1.0]])
def test_a_row_that_no_joint_can_open_moves_no_joint(sides):
    """A Tiago's other joints shook by A: rows held 1e-8 m/rad of them by rounding."""
    wanted, edge = np.array([0.0, 0.01, -0.01]), np.full(3, 0.025)
    rows = np.outer(sides, [0.02, -8e-8, 5e-8])
    problem = pose(wanted, -edge, edge, rows, np.full(len(sides), -0.002))

    v = solve_avoidance_qp(SOLVERS["daqp"], problem)

    assert v[1:] == pytest.approx(wanted[1:], abs=1e-6)
    assert v[0] == pytest.approx(0.025 * (sum(sides) > 0.0), abs=1e-4)


FAILING = {
    "none": lambda *_: None,
    "nan": lambda wanted, *_: wanted * np.nan,
    "infinite": lambda wanted, *_: wanted + np.inf,
    "raises": fail,
    "short": lambda wanted, *_: wanted[1:],
    "text": lambda *_: "solved",
    "complex": lambda wanted, *_: wanted * 1j,
}
LYING = {
    "outside": solve_outside,
    "wanted": lambda wanted, *_: wanted,
    "opposite": lambda wanted, *_: -1e9 * wanted,
    "corner": lambda *problem: problem[2],
    "float32": lambda wanted, *_: wanted.astype(np.float32),
    "backwards": lambda wanted, *_: wanted[::-1],
}


def drive_into_itself(solver, n=300):
    """Return commands and events of a gate whose solver is replaced."""
    robot = load("piper")
    gate, judge = Gate(robot, h=0.005), Judge(robot, GateSettings())
    gate._sliding.solver = solver
    clash = judge.draw_clash(np.random.default_rng(0), robot)

    commands, events, _ = drive(gate, [clash] * n + [robot.home] * n)

    assert judge_joints(commands, robot).is_ok
    assert judge.find_bad(commands) == []
    return commands, events, robot


@pytest.mark.parametrize("kind", FAILING)
def test_a_solver_that_fails_makes_the_gate_brake(kind):
    commands, events, robot = drive_into_itself(FAILING[kind])

    assert any(Reason.QP_FAILED in found for found in events)
    assert commands[-1] == pytest.approx(robot.home, abs=1e-9), "it comes back"


@pytest.mark.long
@pytest.mark.parametrize("kind", LYING)
def test_a_solver_that_lies_breaks_nothing(kind):
    _, events, _ = drive_into_itself(LYING[kind])

    assert any(Reason.CLEARANCE in found for found in events)


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_slide_along_a_row_and_stay_in_the_box(name):
    wanted, high = np.array([1.0, 1.0]), np.array([2.0, 0.7])
    rows, allowed = np.array([[-1.0, 0.0]]), np.array([0.25])

    v = solve_avoidance_qp(SOLVERS[name], pose(wanted, -high, high, rows, allowed))

    assert v == pytest.approx([0.25, 0.7], abs=1e-4)


@pytest.mark.parametrize("name", SOLVERS)
def test_rows_that_the_box_cannot_hold_are_broken_as_little_as_can_be(name):
    rows, allowed = np.array([[-1.0, 0.0]]), np.array([-3.0])

    v = solve_avoidance_qp(
        SOLVERS[name], pose(np.ones(2), -np.ones(2), np.ones(2), rows, allowed)
    )

    assert v == pytest.approx([-1.0, 1.0], abs=1e-3), "opens as the box lets it"


@pytest.mark.parametrize("kind", [k for k in FAILING if k != "complex"])
def test_the_answer_of_a_failing_solver_is_ignored(kind):
    two, row = np.ones(2), np.zeros((1, 2))

    problem = pose(two, -two, two, row, np.ones(1))
    assert solve_avoidance_qp(FAILING[kind], problem) is None


@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_problem_that_is_not_finite_reaches_no_solver(place, bad):
    one = np.ones(1)
    problem = [one, -one, one, one[None], one, one[None]]
    problem[place] = problem[place] * bad

    assert solve_avoidance_qp(lambda *_: one, AvoidanceProblem(*problem)) is None


def test_a_solver_out_of_iterations_gives_nothing(monkeypatch):
    monkeypatch.setattr(avoidance_qp, "_MOST", 1)
    n = 8
    rng = np.random.default_rng(0)
    rows, allowed = rng.normal(size=(30, n)), np.zeros(30)

    problem = pose(np.ones(n), -np.ones(n), np.ones(n), rows, allowed)
    assert SOLVERS["daqp"](*problem) is None


def test_each_limb_is_solved_alone_after_all_together_fail():
    """101 joints at once took more iterations than a period has: the robot stood."""
    rng, n, m = np.random.default_rng(0), 12, 8
    rows, allowed = rng.normal(size=(m, n)), rng.uniform(0.1, 0.5, m)
    limbs, brake = np.split(np.arange(n), 3), np.zeros(n)
    problem = pose(rng.normal(size=n), -np.ones(n), np.ones(n), rows, allowed)

    def solve_few(*parts):
        return SOLVERS["daqp"](*parts) if len(parts[0]) < n else None

    v = solve_limb_by_limb(solve_few, problem, limbs, brake)

    assert solve_avoidance_qp(solve_few, problem) is None
    assert (rows @ v >= -allowed - 1e-4).all(), "each leaves the next what is left"
    assert np.linalg.norm(v - problem.pull) < np.linalg.norm(problem.pull)
    assert solve_limb_by_limb(fail, problem, limbs, brake) is None


def test_the_metric_is_of_the_tool_and_not_of_its_joints():
    """A metric of joints led a hand that presses away to the side."""
    J = np.array([[1.0, 0.5], [0.0, 0.1]])  # the wall is along y
    wanted = np.array([1.0, 1.0])
    metric = J.T @ J
    rows, wide = -J[:1], 9.0 * np.ones(2)
    problem = AvoidanceProblem(metric @ wanted, -wide, wide, rows, np.zeros(1), metric)

    v = solve_avoidance_qp(SOLVERS["daqp"], problem)

    assert J @ v == pytest.approx([0.0, (J @ wanted)[1]], abs=1e-4)


def test_the_reference_solver_is_the_one_it_is_called(monkeypatch):
    monkeypatch.delattr(osqp, "OSQP")
    two = np.ones(2)
    problem = pose(two, -two, two, np.zeros((1, 2)), np.ones(1))

    assert solve_avoidance_qp(SOLVERS["osqp"], problem) is None
    assert solve_avoidance_qp(SOLVERS["daqp"], problem) is not None


def test_the_reference_solver_keeps_clear_as_well():
    drive_into_itself(SOLVERS["osqp"], n=60)
