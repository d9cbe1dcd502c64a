"""Clearance of commands by coal, sharing no kernel with the gate."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from paprle.contracts.types import Vec
from paprle.recording.scene import make_collision_model
from paprle.robot.bodies.collision import CollisionModel
from paprle_lab.evaluation.store import Rows
from paprle_lab.evaluation.timing import list_runs
from paprle_lab.evaluation.tracks import EpisodeData

TOLERANCE = 0.0005  # [m] spec: C1 of docs/SAFETY.md
STEP = math.radians(0.5)  # [rad] or [m] chosen: under 5 mm at the hand of a 0.5 m arm
N_STILL = 20  # chosen: commands that may pass unseen while hardly anything moves
DIGITS = 6  # measured: finer, coal's distances depend on what it measured before
CLOSE = 0.05  # [m] chosen: with less to spare every command is looked at


class Clearance(NamedTuple):
    """Least clearance of a recording.

    Attributes:
        nearest: To 1 µm, [m]; +inf without pairs.
        n_violations: Configurations nearer than required that did not begin so near.
    """

    nearest: float
    pair: tuple[str, str]
    n_violations: int


def judge_clearance(episode: EpisodeData) -> Clearance | None:
    """Return the clearance; None without pairs or commands.

    Raises:
        ConfigError: If the URDF is invalid.
    """
    gate = episode.config.get("gate") or {}
    model = make_collision_model(episode)
    if not model.pairs:
        return None
    keep = np.full(len(model.pairs), -math.inf)
    if "clearance_self" in gate and "clearance_scene" in gate:
        keep = model.find_kept(gate["clearance_self"], gate["clearance_scene"])
    found = [_judge_run(model, keep, rows) for _, _, rows in list_runs(episode.gate)]
    if not found:
        return None
    nearest = min(found, key=lambda one: one.nearest)
    return nearest._replace(
        nearest=round(nearest.nearest, DIGITS),
        n_violations=sum(one.n_violations for one in found),
    )


def _judge_run(model: CollisionModel, keep: Vec, pieces: Iterator[Rows]) -> Clearance:
    judge = _Judge(model, keep)
    seen, n_unseen = None, 0
    for q in (q for rows in pieces for q in rows["q_cmd"].copy()):
        n_unseen += 1
        moved = float(np.abs(q - (q if seen is None else seen)).max())
        is_worth = moved > STEP or n_unseen >= N_STILL or judge.spare < CLOSE
        if not (is_worth and math.isfinite(moved)):
            continue
        if seen is not None and moved > 2.0 * STEP:
            judge.look(0.5 * (seen + q))
        judge.look(q)
        seen, n_unseen = q, 0
    return judge.found


class _Judge:
    """Clearance of successive configurations; ``spare``: least margin, [m]."""

    def __init__(self, model: CollisionModel, keep: Vec) -> None:
        self._model = model
        self._keep = keep
        # A pair that begins nearer than what is kept may only get farther apart.
        self._farthest = np.full(len(keep), -math.inf)
        self.found = Clearance(math.inf, ("", ""), 0)
        self.spare = -math.inf

    def look(self, q: Vec) -> None:
        clearances = self._model.clearances(q)
        self._farthest = np.maximum(self._farthest, clearances)
        allowed = np.minimum(self._keep, self._farthest) - TOLERANCE
        nearest, pair, n_violations = self.found
        k = int(np.argmin(clearances))
        if clearances[k] < nearest:
            nearest, pair = float(clearances[k]), self._model.pairs[k]
        is_near = bool((clearances < allowed).any())
        self.found = Clearance(nearest, pair, n_violations + is_near)
        self.spare = float((clearances - np.maximum(self._keep, 0.0)).min())
