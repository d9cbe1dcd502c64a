"""Every posture that reaches a pose is found, and what each makes of a path."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from cells import spread
from retargeting import load_robot

from paprle.ipc.records import pose_to_row
from paprle.kinematics import IkSolver
from paprle.kinematics.branches import follow_path, list_branches, turn_for_path

NEAR = 2e-3, 0.035
APART = 0.1  # [rad]


def load(name):
    robot = load_robot(name)
    limb = next(iter(robot.limbs.values()))
    return robot, limb, IkSolver(limb)


def descend(limb, T, q):
    """Plain damped least squares with clipped limits: shares nothing with the IK."""
    low, high = np.maximum(limb.q_min, -np.pi), np.minimum(limb.q_max, np.pi)
    damping = 1e-2
    error = pin.log6(limb.fk(q).actInv(T)).vector
    for _ in range(80):
        J = limb.jacobian(q)
        step = np.linalg.solve(J.T @ J + damping * np.eye(len(q)), J.T @ error)
        trial = np.clip(q + step, low, high)
        after = pin.log6(limb.fk(trial).actInv(T)).vector
        if after @ after < error @ error:
            q, error, damping = trial, after, max(0.3 * damping, 1e-9)
        else:
            damping *= 4.0
        if np.linalg.norm(error) < 1e-9:
            return q
    return None


def search_brutally(limb, T, rng, n):
    low, high = np.maximum(limb.q_min, -np.pi), np.minimum(limb.q_max, np.pi)
    found = []
    for _ in range(n):
        q = descend(limb, T, rng.uniform(low, high))
        if q is not None and all(np.abs(q - one).max() > APART for one in found):
            found.append(q)
    return found


def turn_apart(a, b):
    """Largest change of a joint, whole turns not counted."""
    return np.abs(np.remainder(a - b + np.pi, 2 * np.pi) - np.pi).max()


@pytest.mark.long
@pytest.mark.parametrize("name", spread(["piper", "ur5e", "papras_6dof"], "piper"))
def test_no_posture_is_missing_that_brute_force_finds(name):
    _, limb, solver = load(name)
    rng = np.random.default_rng(2)
    low, high = np.maximum(limb.q_min, -2.5), np.minimum(limb.q_max, 2.5)

    for _ in range(4):
        T = limb.fk(rng.uniform(low, high))
        brute = search_brutally(limb, T, rng, 150)
        found = list_branches(solver, T, limb.home)
        missing = [q for q in brute if min(turn_apart(q, b.q) for b in found) > APART]

        assert brute
        assert not missing


@pytest.mark.parametrize("name", ["piper", "ur5e", "papras_7dof"])
def test_each_posture_reaches_the_pose_within_limits_and_none_comes_twice(name):
    _, limb, solver = load(name)
    T = limb.fk(limb.home + 0.2)

    found = list_branches(solver, T, limb.home)

    for k, branch in enumerate(found):
        error = pin.log6(limb.fk(branch.q).actInv(T)).vector
        assert np.abs(error).max() < 1e-5
        assert (branch.q >= limb.q_min - 1e-12).all()
        assert (branch.q <= limb.q_max + 1e-12).all()
        assert all(np.abs(branch.q - b.q).max() > 0.04 for b in found[:k])


def test_a_pose_out_of_reach_has_no_posture():
    _, limb, solver = load("piper")
    T = pin.SE3(np.eye(3), np.array([3.0, 0.0, 0.0]))

    assert list_branches(solver, T, limb.home) == []


def test_a_path_is_followed_to_its_end_in_one_posture_and_left_in_another():
    robot, limb, solver = load("piper")
    q0 = np.array([0.68, 1.40, -1.34, 1.54, -0.76, -1.63])
    way = np.array([0.2, 0.1, -0.1, -1.0, 0.0, 0.5])  # a wrist turned over hits joint 4
    t = np.arange(0.0, 4.0, 0.02)
    qs = [q0 + 0.5 * (1.0 - np.cos(0.25 * np.pi * s)) * way for s in t]
    path = np.array([[s, *pose_to_row(limb.fk(q))] for s, q in zip(t, qs, strict=True)])
    A = robot.ddq_max[limb.indices]

    branches = list_branches(solver, limb.fk(q0), limb.home)
    shares = [follow_path(solver, path, b.q, A, NEAR) for b in branches]

    (itself,) = [k for k, b in enumerate(branches) if np.abs(b.q - q0).max() < 1e-3]
    assert shares[itself] == 1.0
    assert min(shares) < 0.8


@pytest.mark.parametrize("rows", [0, 1])
def test_a_path_without_length_has_no_share(rows):
    robot, limb, solver = load("piper")
    path = np.tile([0.0, *pose_to_row(limb.fk(limb.home))], (rows, 1))

    share = follow_path(solver, path, limb.home, robot.ddq_max[limb.indices], NEAR)

    assert np.isnan(share)


def test_joints_are_turned_to_where_a_path_has_room():
    robot, limb, solver = load("ur5e")
    A = robot.ddq_max[limb.indices]
    t = np.arange(0.0, 12.0, 0.02)
    way = np.array([2.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    qs = [limb.home + s / 12.0 * way for s in t]
    path = np.array([[s, *pose_to_row(limb.fk(q))] for s, q in zip(t, qs, strict=True)])
    at_limit = limb.home.copy()
    at_limit[0] += 2.0 * np.pi * (1 if limb.home[0] <= 0.0 else 0)

    turned = turn_for_path(solver, path, at_limit, A, NEAR)

    assert follow_path(solver, path, at_limit, A, NEAR) < 0.9
    assert follow_path(solver, path, turned, A, NEAR) == 1.0
    assert np.abs(turned - limb.home).max() < 1e-9
