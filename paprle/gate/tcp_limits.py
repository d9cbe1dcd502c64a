"""Cartesian limits of tools: speed (C2), and slowing near singularities (C3)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.compiled import compiled, inlined
from paprle.contracts.errors import ConfigError
from paprle.contracts.types import Vec
from paprle.gate.contact.scene import (
    TOOL,
    UNDECIDED,
    Collision,
    Placed,
    place_bodies_at,
    refuse,
)
from paprle.gate.contact.stops import find_place
from paprle.gate.limits import Box, MotionState
from paprle.robot import RobotModel
from paprle.robot.arrays import Ints, ReachTable, Tree, place_joints

IS_TOOL_FAST = 4  # a wish was scaled down to the Cartesian speed limit
IS_SINGULAR = 8  # a wish was scaled down near a singularity
_AIM = 0.98  # chosen: of the limit; one period's curvature adds up to a percent
_SLOWEST = 0.1  # chosen: share of the wanted speed right at a singularity
_ROTATION = 0.2  # [m/rad] chosen: as IkSettings.rotation_weight
# measured: of a joint's reach, squared; of 1e-2 a hand that presses is led 8 mm aside
JOINT_SHARE = 1e-3
# [rad] chosen: as far as a session's set-points run ahead; fades out by twice that
STRAIGHT = 0.3
_AHEAD = 0.01  # [s] chosen: far enough for σ to change by more than rounding
_NOISE = 1e-6  # chosen: σ of a limb that is always singular is 0 but for rounding
_MAX_PERIODS = 200  # chosen: braking that takes longer is refused; 1 s at 200 Hz
_SWEEPS = 8  # measured: Jacobi's method has converged on 6 × 6 after 6


class Tools(NamedTuple):
    """End-effectors of l limbs of a robot of n joints.

    Attributes:
        joint: Of the tree that moves it, shape (l,).
        p: Its place in that joint, shape (l, 3), [m].
        is_member: The limb's own joints, shape (l, n).
        reach: Largest speed per joint, shape (l, n), [m/rad].
        speed: Limit, shape (1,), [m/s]; inf: none.
        sigma: Singular value of Q^½ J below which it slows, shape (1,); 0: never.
        J: Jacobian, shape (6, n).
        weight: Of a joint's own motion, shape (n,), [m²/rad²] or [1].
        metric: Σ Jᵀ Q J plus ``weight``, shape (n, n).
        pull: Metric times wanted velocity, plus bends, shape (n,).
        bend: Deviation from the wanted path, shape (6,).
        gram: Q^½ J Jᵀ Q^½, shape (6, 6).
        tips: Places of tools, twice, shape (2, l, 3), [m].
    """

    joint: Ints
    p: Vec
    is_member: Ints
    reach: Vec
    speed: Vec
    sigma: Vec
    J: Vec
    weight: Vec
    metric: Vec
    pull: Vec
    bend: Vec
    gram: Vec
    tips: Vec


def fill_tools(tools: Tools, robot: RobotModel) -> None:
    """Write a robot's end-effectors, without limits.

    Raises:
        ConfigError: If the reach of one is unbounded.
    """
    for row, limb in enumerate(robot.limbs.values()):
        joint, T_joint_tool = robot.link_places[limb.eef_link]
        tools.joint[row], tools.p[row] = joint, T_joint_tool.translation
        tools.is_member[row, limb.indices] = 1
        with np.errstate(invalid="ignore"):  # what has no bound is refused here
            tools.reach[row] = _find_reach(robot, joint, T_joint_tool)
        if not np.isfinite(tools.reach[row]).all():
            raise ConfigError(
                f"robot: link '{limb.eef_link}' has unbounded reach: a prismatic joint "
                "mimics a joint without limits; add limits in the URDF or in "
                "limits.q_min and limits.q_max"
            )


def fill_weights(tools: Tools, reach: ReachTable) -> None:
    """Write ``weight`` from the bodies' speeds per joint."""
    most = np.full(len(tools.weight), _ROTATION)
    np.maximum.at(most, reach.column, reach.rate)
    is_limb = tools.is_member.any(axis=0)
    share = np.where(is_limb, JOINT_SHARE, 1.0)
    tools.weight[:] = share * most**2


def _find_reach(robot: RobotModel, joint: int, T_joint_tool: pin.SE3) -> Vec:
    tree = robot.tree
    reach = np.zeros(len(robot.joint_names))
    length = float(np.linalg.norm(T_joint_tool.translation))
    while joint >= 0:
        column, scale = tree.column[joint], abs(tree.scale[joint])
        if tree.is_prismatic[joint]:
            travel = max(abs(robot.q_min[column]), abs(robot.q_max[column]))
            reach[column] += scale
            length += scale * travel + abs(tree.offset[joint])
        else:
            reach[column] += scale * length
        length += float(np.linalg.norm(tree.p[joint]))
        joint = int(tree.parent[joint])
    return reach


@inlined
def slow_tools(
    tools: Tools, collision: Collision, box: Box, c: Vec, reaches_goal: Vec
) -> int:
    """Scale wanted velocities down to the limits of tools.

    ``reaches_goal`` is cleared for the scaled joints.

    Returns:
        ``IS_TOOL_FAST``, ``IS_SINGULAR`` or 0.
    """
    flags = 0
    has_speed, has_sigma = tools.speed[0] < math.inf, tools.sigma[0] > 0.0
    if not (has_speed or has_sigma):
        return flags
    scene, measured = collision.scene, collision.measured
    place_bodies_at(scene, c, measured.at_command, measured.n_queries)
    for limb in range(len(tools.joint)):
        _fill_jacobian(tools, scene.tree, measured.at_command, limb)
        scale = 1.0
        if has_speed:
            fast = _find_speed(tools, box.dq_goal)
            if fast > _AIM * tools.speed[0]:
                scale, flags = _AIM * tools.speed[0] / fast, flags | IS_TOOL_FAST
        if has_sigma:
            slow = _find_care(tools, collision, limb, c, box.dq_goal)
            if slow < 1.0:
                scale, flags = scale * slow, flags | IS_SINGULAR
        if scale < 1.0:
            for i in range(len(reaches_goal)):
                if tools.is_member[limb, i]:
                    box.dq_track[i] *= scale
                    box.dq_goal[i] *= scale
                    reaches_goal[i] = 0.0
    return flags


@compiled
def fill_metric(
    tools: Tools, collision: Collision, motion: MotionState, box: Box
) -> None:
    """Write the QP's ``metric`` and ``pull``, by the motion of tools.

    ``pull`` straightens the joint path near the goal.
    """
    metric, pull, tree = tools.metric, tools.pull, collision.scene.tree
    here, there = collision.measured.at_command, collision.scratch.placed
    place_joints(tree, motion.goal, there.R_joint, there.p_joint)
    metric[:], pull[:] = 0.0, 0.0
    for i in range(len(metric)):
        metric[i, i] = tools.weight[i]
    for limb in range(len(tools.joint)):
        _fill_jacobian(tools, tree, here, limb)
        _fill_bend(tools, here, there, limb, motion.goal_error, box.dq_goal)
        for i in range(len(metric)):
            for a in range(6):
                pull[i] += tools.J[a, i] * tools.bend[a]
            for j in range(i + 1):
                product = metric[i, j]
                for a in range(6):
                    product += tools.J[a, i] * tools.J[a, j]
                metric[i, j] = metric[j, i] = product
    for i in range(len(metric)):
        for j in range(len(metric)):
            pull[i] += metric[i, j] * box.dq_goal[j]


@compiled
def _fill_bend(
    tools: Tools, here: Placed, there: Placed, limb: int, goal_error: Vec, wanted: Vec
) -> None:
    last, bend = tools.joint[limb], tools.bend
    p_here, p_there = tools.tips[0, limb], tools.tips[1, limb]
    _fill_place(tools, there, limb, last, p_there)
    bend[:] = 0.0
    if last < 0:
        return
    for k in range(3):
        a, b = (k + 1) % 3, (k + 2) % 3
        bend[k] = p_there[k] - p_here[k]
        for c in range(3):  # ½ Σ x × x' of the axes: sin θ about the turn's axis
            R, R_goal = here.R_joint[last], there.R_joint[last]
            turn = R[a, c] * R_goal[b, c] - R[b, c] * R_goal[a, c]
            bend[3 + k] += 0.5 * _ROTATION * turn
    along, way2, farthest = 0.0, 0.0, 0.0
    for i in range(len(wanted)):
        if tools.is_member[limb, i]:
            along += wanted[i] * goal_error[i]
            way2 += goal_error[i] * goal_error[i]
            farthest = max(farthest, abs(goal_error[i]))
            for a in range(6):
                bend[a] -= tools.J[a, i] * goal_error[i]
    rate = along / way2 if way2 > 0.0 else 0.0
    rate *= min(max(2.0 - farthest / STRAIGHT, 0.0), 1.0)
    for a in range(6):
        bend[a] *= rate


@compiled
def _fill_jacobian(tools: Tools, tree: Tree, placed: Placed, limb: int) -> None:
    tools.J[:] = 0.0
    last = i = tools.joint[limb]
    place = tools.tips[0, limb]
    _fill_place(tools, placed, limb, last, place)
    while i >= 0:
        if tools.is_member[limb, tree.column[i]]:
            _add_column(tools.J, tree, placed, i, place)
        i = tree.parent[i]


@compiled
def _add_column(J: Vec, tree: Tree, placed: Placed, i: int, place: Vec) -> None:
    R, axis = placed.R_joint[i], tree.axis[i]
    column, scale = tree.column[i], tree.scale[i]
    x = scale * (R[0, 0] * axis[0] + R[0, 1] * axis[1] + R[0, 2] * axis[2])
    y = scale * (R[1, 0] * axis[0] + R[1, 1] * axis[1] + R[1, 2] * axis[2])
    z = scale * (R[2, 0] * axis[0] + R[2, 1] * axis[1] + R[2, 2] * axis[2])
    if tree.is_prismatic[i]:
        J[0, column] += x
        J[1, column] += y
        J[2, column] += z
        return
    rx = place[0] - placed.p_joint[i, 0]
    ry = place[1] - placed.p_joint[i, 1]
    rz = place[2] - placed.p_joint[i, 2]
    J[0, column] += y * rz - z * ry
    J[1, column] += z * rx - x * rz
    J[2, column] += x * ry - y * rx
    J[3, column] += _ROTATION * x
    J[4, column] += _ROTATION * y
    J[5, column] += _ROTATION * z


@compiled
def _fill_place(tools: Tools, placed: Placed, limb: int, last: int, place: Vec) -> None:
    for a in range(3):
        place[a] = tools.p[limb, a]
        if last >= 0:
            place[a] = placed.p_joint[last, a]
            for b in range(3):
                place[a] += placed.R_joint[last, a, b] * tools.p[limb, b]


@compiled
def _find_speed(tools: Tools, v: Vec) -> float:
    square = 0.0
    for a in range(3):
        speed = 0.0
        for i in range(len(v)):
            speed += tools.J[a, i] * v[i]
        square += speed * speed
    return math.sqrt(square)


@compiled
def _find_care(
    tools: Tools, collision: Collision, limb: int, c: Vec, wanted: Vec
) -> float:
    n_members = 0
    for i in range(len(wanted)):
        n_members += tools.is_member[limb, i]
    m = 6 if n_members >= 6 else 3
    sigma = find_sigma(tools, m)
    if sigma >= tools.sigma[0]:
        return 1.0
    scene, scratch = collision.scene, collision.scratch
    n_queries = collision.measured.n_queries
    for i in range(len(wanted)):
        scratch.posture[i] = c[i] + _AHEAD * wanted[i]
    place_bodies_at(scene, scratch.posture, scratch.placed, n_queries)
    _fill_jacobian(tools, scene.tree, scratch.placed, limb)
    ahead = find_sigma(tools, m)
    n_queries[0] += len(scene.bodies.joint)  # two σ count as placing once more
    if ahead >= sigma - _NOISE:
        return 1.0
    return float(max(_SLOWEST, sigma / tools.sigma[0]))


@compiled
def find_sigma(tools: Tools, m: int) -> float:
    """Return the smallest singular value of the first m rows of ``J`` (Jacobi)."""
    M = tools.gram
    for a in range(m):
        for b in range(m):
            M[a, b] = 0.0
            for i in range(tools.J.shape[1]):
                M[a, b] += tools.J[a, i] * tools.J[b, i]
    for _ in range(_SWEEPS):
        for a in range(m - 1):
            for b in range(a + 1, m):
                _rotate(M, m, a, b)
    least = math.inf
    for a in range(m):
        least = min(least, M[a, a])
    return math.sqrt(max(least, 0.0))


@compiled
def _rotate(M: Vec, m: int, a: int, b: int) -> None:
    if abs(M[a, b]) <= 1e-300:
        return
    theta = (M[b, b] - M[a, a]) / (2.0 * M[a, b])
    t = math.copysign(1.0, theta) / (abs(theta) + math.sqrt(theta * theta + 1.0))
    c = 1.0 / math.sqrt(t * t + 1.0)
    s = t * c
    for i in range(m):
        x, y = M[i, a], M[i, b]
        M[i, a], M[i, b] = c * x - s * y, s * x + c * y
    for i in range(m):
        x, y = M[a, i], M[b, i]
        M[a, i], M[b, i] = c * x - s * y, s * x + c * y


@inlined
def _begin_where_it_ended(tips: Vec) -> None:
    for limb in range(tips.shape[1]):
        for a in range(3):
            tips[0, limb, a] = tips[1, limb, a]


@inlined
def are_slow(
    tools: Tools, collision: Collision, ddq_max: Vec, h: float, c: Vec, v: Vec
) -> bool:
    """Return whether tools keep their speed in the next period and in braking.

    Undecided in time is False.
    """
    if tools.speed[0] == math.inf:
        return True
    allowed, scratch = tools.speed[0] * h, collision.scratch
    posture, placed = scratch.posture, scratch.placed
    n_queries = collision.measured.n_queries
    for step in range(_MAX_PERIODS):
        if _must_be_slow(tools, ddq_max, h, v, step):
            return True
        _begin_where_it_ended(tools.tips)
        for side in range(0 if step == 0 else 1, 2):
            for i in range(len(c)):
                A, t = ddq_max[i], float(step + side)
                posture[i] = find_place(c[i], v[i], A, h, t)
            place_bodies_at(collision.scene, posture, placed, n_queries)
            for limb in range(len(tools.joint)):
                place = tools.tips[side, limb]
                _fill_place(tools, placed, limb, tools.joint[limb], place)
        for limb in range(len(tools.joint)):
            way = 0.0
            for a in range(3):
                way += (tools.tips[1, limb, a] - tools.tips[0, limb, a]) ** 2
            if way > allowed * allowed:
                refuse(collision, TOOL, limb)
                return False
    refuse(collision, UNDECIDED, 0)
    return False


@compiled
def _must_be_slow(tools: Tools, ddq_max: Vec, h: float, v: Vec, step: int) -> bool:
    for limb in range(len(tools.joint)):
        speed = 0.0
        for i in range(len(v)):
            left = max(abs(v[i]) - step * ddq_max[i] * h, 0.0)
            speed += tools.reach[limb, i] * left
        if speed > tools.speed[0]:
            return False
    return True
