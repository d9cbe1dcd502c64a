"""Joints of an arm whose camera looks at a target (Eq. 2, line 1).

Θ = argmin Σ w_i f_i(Θ): target on the axis (Eq. 4), camera at its goal (Eq. 10) and
upright (Eq. 9), little motion (Eq. 8), and a hard bound on clearance. Losses are
replaced by the parabola of the same slope. Changes count per 1/80 s, the paper's
period.

References:
    Rakita, Mutlu, Gleicher, HRI 2018.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from paprle.advisors.viewpoint.arms import Arms, Links
from paprle.advisors.viewpoint.goal import Wish
from paprle.contracts.types import LimbInfo, RobotInfo, Vec

_PERIOD = 1.0 / 80.0  # [s] spec: HRI 2018, 5.1: input at 80 Hz
_SPEED_SHARE = 0.5  # chosen: of V; the gate's own bound stays far
_POSTURE = 0.05  # chosen: what no wish decides stays where home has it
_CLEAR_WEIGHT = 200.0  # chosen: a link 0.1 m too near counts as a whole wish
_BACK_WEIGHT = 2e4  # chosen: nearer than it may be, nothing counts but getting away
_BEYOND = 0.005  # [m] chosen: a hand of 0.5 m/s comes as near in a step
_MARGIN = 0.02  # [rad] chosen: kept from position limits
_N_HALVES = 4  # chosen: less than a sixteenth of a step is none
_IN_FRONT = 0.1  # [m] chosen: a target behind the camera is turned to, not fled from
_LEAST = 1e-9  # [m] chosen: the direction of a shorter way says nothing
_N_POSTURES, _SEED = 8, 1  # chosen: what no one of them lifts, nothing lifts
UP = np.array([0.0, 0.0, 1.0])
Bools = npt.NDArray[np.bool_]


class JointWishes(NamedTuple):
    """Losses of the arm.

    Attributes:
        look: Target from the camera's axis (Eq. 4), [m].
        goal: Camera from its goal (Eq. 10), [m].
        upright: Vertical part of its x axis (Eq. 9).
        joints: Change in 1/80 s (Eq. 8), [rad].
        camera: Displacement in 1/80 s, [m].
    """

    look: Wish = Wish(5.0, r=10.0, power=2)
    goal: Wish = Wish(4.0, r=10.0, power=2)
    upright: Wish = Wish(3.0)
    joints: Wish = Wish(4.0, c=0.08)
    camera: Wish = Wish(4.0, c=0.08)


class Carry(NamedTuple):
    """Request to the arm.

    Attributes:
        goal: Camera position, (3,), [m].
        target: (3,), [m].
        clearance: Between links, and from the floor, [m].
        floor: Height of a table, [m].
        dt: [s].
    """

    goal: Vec
    target: Vec
    clearance: float
    floor: float
    dt: float


class JointSolver:
    """Stepwise solver of a limb's joints.

    Attributes:
        clearance: Least, after the last step, [m].
    """

    def __init__(
        self,
        arms: Arms,
        robot: RobotInfo,
        limbs: tuple[LimbInfo, LimbInfo],
        camera: tuple[int, pin.SE3],
        wishes: JointWishes | None = None,
    ) -> None:
        limb, other = limbs
        self._arms, self._home = arms, robot.home
        self._frame, self._T_eef_cam = camera
        self._places = [robot.joint_names.index(name) for name in limb.joint_names]
        self._columns = arms.list_columns(limb.joint_names)
        self._low = robot.q_min[self._places] + _MARGIN
        self._high = robot.q_max[self._places] - _MARGIN
        self._most = _SPEED_SHARE * robot.dq_max[self._places]
        self._wishes = np.array(wishes or JointWishes(), dtype=np.float64)
        self._links = Links(arms, limb, has_last=True)
        self._others = Links(arms, other, has_last=True)
        self._rises = self._find_what_rises(robot)
        self.clearance = np.inf

    def _find_what_rises(self, robot: RobotInfo) -> Bools:
        # A link that a first joint turns about the vertical stands on the table for
        # ever: it is no reason to move, and must not hide what is.
        rng, heights = np.random.default_rng(_SEED), []
        q = robot.home.copy()
        for _ in range(_N_POSTURES):
            q[self._places] = rng.uniform(self._low, self._high)
            self._arms.place(q)
            ours = self._links.find()
            heights.append(np.minimum(ours[:, 2], ours[:, 5]) - ours[:, 6])
        rises: Bools = np.ptp(heights, axis=0) > _LEAST
        return rises

    def place_camera(self) -> pin.SE3:
        """Return T_world_cam at the last placement."""
        return self._arms.data.oMf[self._frame] * self._T_eef_cam

    def step(self, q: Vec, asked: Carry) -> Vec:
        """Return the robot's joints after a step from ``q``, (n,), [rad]."""
        self._arms.place(q)
        A, b = self._sum_up(q, asked)
        change = np.linalg.solve(A, b) * (asked.dt / _PERIOD)
        most = self._most * asked.dt
        change *= min(1.0, float((most / np.maximum(np.abs(change), 1e-12)).min()))
        before = self._find_nearest(asked.floor)[0]
        for _ in range(_N_HALVES):
            after = q.copy()
            own = q[self._places]
            low, high = np.minimum(self._low, own), np.maximum(self._high, own)
            after[self._places] = np.clip(own + change, low, high)
            self._arms.place(after)
            self.clearance = self._find_nearest(asked.floor)[0]
            if self.clearance >= min(asked.clearance, before):
                return after
            change *= 0.5
        self._arms.place(q)
        self.clearance = before
        return q

    def _sum_up(self, q: Vec, asked: Carry) -> tuple[Vec, Vec]:
        # kernels, none of which is loaded where plug-ins are only listed
        from paprle.advisors.viewpoint.kernels import compute_curvature  # noqa: PLC0415

        T = self.place_camera()
        J_v, J_w = self._find_jacobians(T.translation)
        look, goal, upright, joints, camera = self._wishes
        n = J_v.shape[1]
        A = np.eye(n) * (joints[0] * compute_curvature(joints, 0.0) + _POSTURE)
        b = _POSTURE * (self._home - q)[self._places]
        A += camera[0] * compute_curvature(camera, 0.0) * J_v.T @ J_v
        off = asked.goal - T.translation
        stiff = goal[0] * compute_curvature(goal, float(np.linalg.norm(off)))
        A += stiff * J_v.T @ J_v
        b += stiff * J_v.T @ off
        x, z = T.rotation[:, 0], T.rotation[:, 2]
        way = asked.target - T.translation
        ahead = max(float(z @ way), _IN_FRONT)
        off = way - ahead * z
        across = np.eye(3) - np.outer(z, z)
        J = across @ (J_v - ahead * pin.skew(z) @ J_w)
        stiff = look[0] * compute_curvature(look, float(np.linalg.norm(off)))
        A += stiff * J.T @ J
        b += stiff * J.T @ off
        row = np.cross(x, UP) @ J_w
        stiff = upright[0] * compute_curvature(upright, float(x[2]))
        A += stiff * np.outer(row, row)
        b -= stiff * row * x[2]
        self._keep_apart(A, b, asked)
        return A, b

    def _keep_apart(self, A: Vec, b: Vec, asked: Carry) -> None:
        """Push the nearest link away, within twice the clearance."""
        least, body, p, away = self._find_nearest(asked.floor)
        lack, size = 2.0 * asked.clearance - least, float(np.linalg.norm(away))
        if not 0.0 < lack < np.inf or size < _LEAST:
            return
        joint = self._links.joints[body]
        J = pin.getJointJacobian(
            self._arms.model, self._arms.data, joint, pin.LOCAL_WORLD_ALIGNED
        )[:, self._columns]
        arm = p - self._arms.data.oMi[joint].translation
        row = (away / size) @ (J[:3] - pin.skew(arm) @ J[3:])
        weight = _CLEAR_WEIGHT
        if least < asked.clearance:
            weight, lack = _BACK_WEIGHT, asked.clearance - least + _BEYOND
        A += weight * np.outer(row, row)
        b += weight * row * lack

    def _find_nearest(self, floor: float) -> tuple[float, int, Vec, Vec]:
        from paprle.advisors.viewpoint.kernels import find_closest  # noqa: PLC0415 - likewise

        ours, others, places = self._links.find(), self._others.find(), np.zeros(4)
        least = float(find_closest(ours, others, places))
        lows = np.minimum(ours[:, 2], ours[:, 5]) - ours[:, 6] - floor
        lows[~self._rises] = np.inf
        k = int(lows.argmin())
        if lows[k] < least:
            end = 0 if ours[k, 2] < ours[k, 5] else 3
            return float(lows[k]), k, ours[k, end : end + 3], UP
        i, j = int(places[0]), int(places[1])
        p = ours[i, :3] + places[2] * (ours[i, 3:6] - ours[i, :3])
        q = others[j, :3] + places[3] * (others[j, 3:6] - others[j, :3])
        return least, i, p, p - q

    def _find_jacobians(self, p: Vec) -> tuple[Vec, Vec]:
        J = pin.getFrameJacobian(
            self._arms.model, self._arms.data, self._frame, pin.LOCAL_WORLD_ALIGNED
        )[:, self._columns]
        arm = p - self._arms.data.oMf[self._frame].translation
        return J[:3] - pin.skew(arm) @ J[3:], J[3:]
