"""Choice among a limb's postures for a pose, slow, in the background."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.settings.core import GateSettings, IkSettings
from paprle.contracts.types import Vec
from paprle.gate.gate import compute_command_limits
from paprle.ipc.records import pose_to_row
from paprle.kinematics import IkSolver
from paprle.kinematics.branches import (
    MOST_STEPS,
    Branch,
    follow_path,
    list_branches,
    turn_for_path,
)
from paprle.robot import RobotModel
from paprle.robot.chain import Limb
from paprle.session.path_clearance import Ways

REACHED = 2e-3, 0.035  # [m], [rad] chosen: what a person sees beside a finger, as told
_LIMIT, _LIMIT_PRICE = 0.3, 2.0  # [rad] chosen: nearer to a limit, a detour is worth it
_ROOM, _ROOM_PRICE = 0.05, 2.0  # [m], [rad] chosen: likewise, of clearance
_TURNED = 0.05  # [rad] chosen: few joints: postures that turn the hand worse are none
_BEGINS = 0.05  # [m] chosen: a pose farther from a path is not on it
WHOLE = 0.9995  # [1] chosen: of a path; less is missed, as it is told to 0.1 %
_FEWEST_STEPS = 1500  # chosen: of one path; with fewer, postures are not told apart
_SAME_SHARE = 1e-3  # [1] chosen: shares of a path that differ by less are one
_N_BEST = 8  # measured: of those that did best in rough steps, one is the best


class PostureChoice(NamedTuple):
    """A posture for one limb.

    Attributes:
        q: Joints of the limb, shape (n_l,), [rad].
        n_branches: Number of postures; 0: out of reach.
        share: Followed share of the path ahead, 0 … 1; NaN: unknown path.
    """

    q: Vec
    n_branches: int
    share: float
    obstacle: str


class Start(NamedTuple):
    """A start posture, shape (n,), [rad], and choices by limb."""

    q: Vec
    choices: Mapping[str, PostureChoice]


class Offer(NamedTuple):
    """Another posture, (n_l,), [rad], that lets a stuck limb reach its target."""

    limb: str
    cause: str
    q: Vec
    obstacle: str


class PostureGoal(NamedTuple):
    """Requirements on a start.

    Attributes:
        q: Goal of other joints, shape (n,), [rad].
        q_cmd: The command, at rest, shape (n,), [rad].
        poses: T_base_eef by limb.
        paths: Known times [s] and poses by limb, shape (rows, 8).
        bounds: Limit of a limb's joint motion, [rad].
    """

    q: Vec
    q_cmd: Vec
    poses: Mapping[str, pin.SE3]
    paths: Mapping[str, Vec]
    bounds: Mapping[str, float]
    is_near: bool


class Postures:
    """Finds limb postures."""

    def __init__(self, robot: RobotModel, gate: GateSettings, ik: IkSettings) -> None:
        self._robot = robot
        self._low, self._high = compute_command_limits(robot.info, gate)
        self._ways = Ways(robot, gate)
        margin = gate.position_margin
        self._solvers = {
            name: IkSolver(limb, ik.of_limb(name), position_margin=margin)
            for name, limb in robot.limbs.items()
        }

    def warm_up(self) -> None:
        """Load all that a search needs."""
        home = self._robot.home
        for limb in self._robot.limbs.values():
            row = pose_to_row(limb.fk(limb.home))
            path = np.array([[0.0, *row], [1e-3, *row]])
            self._list(limb, limb.fk(limb.home), home, home)
            self._follow(limb, path, limb.home, 1)
            self._find_obstacle(limb, limb.home, home, home)
            return

    def find_start(self, wanted: PostureGoal) -> Start:
        """Return the start; the closest posture if a pose is missed."""
        q, choices = wanted.q.copy(), {}
        for name, T in wanted.poses.items():
            limb = self._robot.limbs[name]
            choice = self._choose(limb, T, q, wanted)
            q[limb.indices] = choice.q
            choices[name] = choice
        return Start(q, choices)

    def find_other(self, name: str, T: pin.SE3, q_cmd: Vec) -> PostureChoice | None:
        """Return another posture for a stuck limb, or None.

        T is T_base_eef; ``q_cmd`` has shape (n,), [rad]. A free path is preferred.
        """
        limb = self._robot.limbs[name]
        listed = self._list(limb, T, q_cmd, q_cmd)
        first = None
        for branch in listed:
            if branch.err_rot > REACHED[1]:
                continue
            obstacle = self._find_obstacle(limb, branch.q, q_cmd, q_cmd)
            found = PostureChoice(branch.q, len(listed), math.nan, obstacle)
            if not obstacle:
                return found
            first = first or found
        return first

    def _choose(
        self, limb: Limb, T: pin.SE3, q: Vec, wanted: PostureGoal
    ) -> PostureChoice:
        # A free way comes first, then what a person's hand is near, then the share of
        # the path, then the price.
        q_cmd, start = wanted.q_cmd, limb.take(wanted.q_cmd)
        if wanted.is_near:
            found = self._solvers[limb.name].solve_global(T, start)
            return PostureChoice(found.q, int(found.is_converged), math.nan, "")
        path = _take_ahead(wanted.paths.get(limb.name, np.zeros((0, 8))), T)
        listed = self._list(limb, T, q, q_cmd)
        if not listed:
            found = self._solvers[limb.name].solve_global(T, start)
            return PostureChoice(found.q, 0, self._follow(limb, path, found.q, 1), "")
        bound = wanted.bounds.get(limb.name, math.inf)
        near = [one for one in listed if np.abs(one.q - start).max() <= bound]
        obstacles = [
            (one, self._find_obstacle(limb, one.q, q, q_cmd)) for one in near or listed
        ]
        free = [pair for pair in obstacles if not pair[1]] or obstacles
        best = PostureChoice(free[0][0].q, len(listed), math.nan, free[0][1])
        if len(path) < 2 or not path[-1, 0] > path[0, 0]:
            return best
        best = self._lead(limb, path, [(one.q, why) for one, why in free], best)
        if best.share >= WHOLE:
            return best
        pairs = [(one.q, self._turn(limb, path, one.q, len(free))) for one, _ in free]
        turned = [after for before, after in pairs if (after != before).any()]
        ways = [(q_l, self._find_obstacle(limb, q_l, q, q_cmd)) for q_l in turned]
        return self._lead(limb, path, [way for way in ways if not way[1]], best)

    def _lead(
        self,
        limb: Limb,
        path: Vec,
        postures: list[tuple[Vec, str]],
        best: PostureChoice,
    ) -> PostureChoice:
        # Many are led in rough steps first, and those that did best once more in ticks:
        # where joints are to spare, steps of another length lead elsewhere.
        missed: list[tuple[float, tuple[Vec, str]]] = []
        for way in postures:
            share = self._follow(limb, path, way[0], len(postures))
            if share < WHOLE:
                missed.append((share, way))
                continue
            best = self._lead_in_ticks(limb, path, way, best)
            if best.share >= WHOLE:
                return best
        missed.sort(key=lambda one: -one[0])
        for _, way in missed[:_N_BEST]:
            best = self._lead_in_ticks(limb, path, way, best)
            if best.share >= WHOLE:
                break
        return best

    def _lead_in_ticks(
        self, limb: Limb, path: Vec, way: tuple[Vec, str], best: PostureChoice
    ) -> PostureChoice:
        q_limb, obstacle = way
        share = self._follow(limb, path, q_limb, 1)
        if math.isnan(best.share) or share > best.share + _SAME_SHARE:
            return best._replace(q=q_limb, share=share, obstacle=obstacle)
        return best

    def _turn(self, limb: Limb, path: Vec, q_limb: Vec, n: int) -> Vec:
        A = self._robot.ddq_max[limb.indices]
        steps = max(MOST_STEPS // n, _FEWEST_STEPS)
        solver = self._solvers[limb.name]
        return turn_for_path(solver, path, q_limb, A, REACHED, steps)

    def _list(self, limb: Limb, T: pin.SE3, q: Vec, q_cmd: Vec) -> list[Branch]:
        start = limb.take(q_cmd)
        branches = list_branches(self._solvers[limb.name], T, start)
        least = min((one.err_rot for one in branches), default=0.0)
        branches = [one for one in branches if one.err_rot <= least + _TURNED]
        return sorted(branches, key=lambda one: self._price(limb, one.q, start, q))

    def _price(self, limb: Limb, q_limb: Vec, start: Vec, q: Vec) -> float:
        whole = q.copy()
        whole[limb.indices] = q_limb
        low, high = self._low[limb.indices], self._high[limb.indices]
        margin = float(np.minimum(q_limb - low, high - q_limb).min())
        tight = max(0.0, 1.0 - margin / _LIMIT)
        close = max(0.0, 1.0 - self._ways.measure(whole) / _ROOM)
        distance = float(np.abs(q_limb - start).max())
        return distance + _LIMIT_PRICE * tight + _ROOM_PRICE * close

    def _follow(self, limb: Limb, path: Vec, q_limb: Vec, n: int) -> float:
        A = self._robot.ddq_max[limb.indices]
        steps = max(MOST_STEPS // n, _FEWEST_STEPS)
        return follow_path(self._solvers[limb.name], path, q_limb, A, REACHED, steps)

    def _find_obstacle(self, limb: Limb, q_limb: Vec, q: Vec, q_cmd: Vec) -> str:
        goal = q.copy()
        goal[limb.indices] = q_limb
        return self._ways.find_contact(q_cmd, goal)


def _take_ahead(path: Vec, T: pin.SE3) -> Vec:
    if not len(path):
        return path
    apart = np.linalg.norm(path[:, 1:4] - T.translation, axis=1)
    nearest = int(apart.argmin())
    return path[nearest:] if apart[nearest] <= _BEGINS else path
