"""Sliding along bodies that the robot may not approach (decision 0012).

Nearest points leap at flat sides and edges, so rows are remembered.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paprle.contracts.types import Vec
from paprle.gate.contact.avoidance_qp import (
    AvoidanceProblem,
    Solver,
    solve_avoidance_qp,
    solve_limb_by_limb,
)
from paprle.gate.contact.stall_rest import HOLDS
from paprle.gate.memory import GateParts
from paprle.gate.tcp_limits import JOINT_SHARE, STRAIGHT
from paprle.robot.arrays import Ints

_HELD = 1e-6  # [m/s] chosen: a row that leaves less to close holds the velocity
_NEAR = 0.01  # [rad] chosen: a linear distance is off by 0.1 mm there, of 1 mm kept
_OPENING = 0.25  # [1] chosen: of what a remembered row has gained, closed in a period
_ALIKE = 1e-3  # [1] chosen: of a row's length; nearer it is the same, seen again
_TURNING = 20.0  # [1/rad] measured: of its length; 5 to 100 hold as well
_MOST = 16  # chosen: rows remembered; a body on a plane has three points
_RATE = 3.0  # [1/s] measured: of the way; 5 goes past, and comes back for ever


class RememberedRow(NamedTuple):
    """A remembered row.

    Attributes:
        row: Gradient of the distance, shape (n,), [m/rad].
        allowed: Closing speed, [m/s].
        at: Command at which it was seen, shape (n,), [rad].
    """

    row: Vec
    allowed: float
    at: Vec
    pair: int


class Sliding:
    """Finds velocities along bodies and remembers rows that held."""

    def __init__(self, parts: GateParts, limbs: list[Ints], solver: Solver) -> None:
        self._parts, self._limbs, self.solver = parts, limbs, solver
        self.forget()

    def forget(self) -> None:
        """Forget all rows."""
        self._rows: list[RememberedRow] = []

    def find_velocity(self, n_rows: int, h: float) -> tuple[Vec | None, bool]:
        """Return the velocity nearest to the wanted one that keeps all rows.

        It has shape (n,), [rad/s], or is None; with whether a row holds it.
        """
        box, motion = self._parts.box, self._parts.motion
        rows, allowed, pairs = self._add_remembered(n_rows, h)
        metric, pull = self._weigh()
        limbs = [own for own in self._limbs if (np.abs(rows[:, own]) > HOLDS).any()]
        if not limbs:
            return motion.v_next.copy(), False
        own = np.concatenate(limbs)
        whole = AvoidanceProblem(pull, box.low, box.high, rows, allowed, metric)
        v = motion.v_next.copy()
        part = solve_avoidance_qp(self.solver, whole.of(own, v))
        if part is None:
            found = solve_limb_by_limb(self.solver, whole, limbs, box.brake)
            part = None if found is None else found[own]
        if part is None:
            return None, False
        v[own] = part
        held = np.flatnonzero(rows @ v <= _HELD - allowed)
        self._note_kept(rows[held], pairs[held])
        return v, len(held) > 0

    def _note_kept(self, rows: Vec, pairs: Ints) -> None:
        kept_by = self._parts.motion.kept_by
        for row, pair in zip(rows[::-1], pairs[::-1], strict=True):
            for g, own in enumerate(self._limbs):
                if np.abs(row[own]).max() > HOLDS:
                    kept_by[g] = pair

    def _add_remembered(self, n_rows: int, h: float) -> tuple[Vec, Vec, Ints]:
        measured, c = self._parts.collision.measured, self._parts.motion.q_cmd
        rows, allowed = measured.rows[:n_rows].copy(), measured.allowed[:n_rows].copy()
        pairs = measured.pair[:n_rows]
        kept = [seen for seen in self._rows if _still_holds(seen, c, rows, pairs)]
        fresh = [
            RememberedRow(row, speed, c.copy(), pair)
            for row, speed, pair, waits in zip(
                rows, allowed.tolist(), pairs.tolist(), measured.waits, strict=False
            )
            if not waits  # that ends while the command stands
        ]
        self._rows = [*fresh, *kept][:_MOST]
        if not kept:
            return rows, allowed, pairs
        gained = [
            max(seen.allowed, 0.0) + _OPENING / h * float(seen.row @ (c - seen.at))
            for seen in kept
        ]
        old = np.array([seen.row for seen in kept])
        return (
            np.vstack([rows, old]),
            np.append(allowed, np.maximum(gained, 0.0)),
            np.append(pairs, [seen.pair for seen in kept]),
        )

    def _weigh(self) -> tuple[Vec, Vec]:
        # Far away a tool's way is no measure: it would be led there by a joint that
        # hardly moves it. From one to the other joints count more and more, and begin
        # gently. Where the two disagree the robot rests on that way, and a count that
        # set in at once would turn it around within a hair's breadth.
        tools, motion, box = self._parts.tools, self._parts.motion, self._parts.box
        metric, pull = tools.metric, tools.pull
        far = float(np.abs(motion.goal_error).max()) / STRAIGHT - 1.0
        if far > 0.0:
            far = min(far, 1.0)
            own = far * far * (3.0 - 2.0 * far) / JOINT_SHARE * tools.weight
            metric, pull = metric + np.diag(own), pull + own * box.dq_goal
        along = metric @ box.dq_track
        return metric, along + self._find_pace() * (pull - along)

    def _find_pace(self) -> Vec:
        # The robot comes to rest where the goal pulls into a body, not where the goal
        # is: who brakes for the goal alone would go past that place, and come back.
        motion, box = self._parts.motion, self._parts.box
        pace = np.ones(len(box.dq_goal))
        for own in self._limbs:
            speed = float(np.abs(box.dq_goal[own] - box.dq_track[own]).max())
            way = float(np.abs(motion.goal_error[own]).max())
            pace[own] = min(1.0, _RATE * way / speed) if speed > 0.0 else 1.0
        return pace


def _still_holds(seen: RememberedRow, c: Vec, rows: Vec, pairs: Ints) -> bool:
    way = float(np.abs(c - seen.at).max())
    if way >= _NEAR:
        return False
    # it has leapt if it turned farther than the motion since then turns it
    same = (_ALIKE + _TURNING * way) * np.abs(seen.row).max()
    apart = np.abs(rows[pairs == seen.pair] - seen.row).max(axis=1)
    return not (apart <= same).any()
