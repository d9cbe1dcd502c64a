"""Guess a home posture for a limb that nobody has described.

Home wants three things: far from singular, far from limits, and room to all bodies. Of
random postures the best is taken and then every joint is put back to its plain
position where that costs little, since people expect symmetric postures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from paprle.contracts.types import Vec
from paprle.robot.chain import Limb

_N_POSTURES = 400  # chosen: 20 ms, and the best changes little with more
_N_TRIED = 40  # chosen: of the best, for room: bodies are slow, 1 ms each and more
_SEED = 0  # chosen: the same guess every time
_FREE_SHARE = 0.2  # [1] chosen: of the range; nearer to a limit a posture is worse
_CHEAP = 0.9  # [1] chosen: share of the score kept when a joint is put back
_TURN = np.pi / 2  # [rad] chosen: how far continuous joints are tried
_ROOMS = (0.05, 0.02, 0.0)  # [m] chosen: clearances of home, the first that is found
_FULL_TASK = 6

Score = Callable[[Vec], float]
Measure = Callable[[Vec], float]
"""Takes positions, shape (n,), [rad]; returns the smallest distance of bodies, [m]."""


def guess_home(limbs: Mapping[str, Limb], q: Vec, measure: Measure) -> Vec:
    """Return good homes for all limbs, one after the other, shape (n,).

    Joints of no limb stay, as do those that stand well where they are.

    Args:
        limbs: The limbs of a robot.
        q: Where the whole robot stands at first, shape (n,), [rad] or [m].
        measure: Measures the clearance of the whole robot.

    Returns:
        The positions of the whole robot.
    """
    is_alone = len(limbs) == 1
    for limb in limbs.values():
        q = limb.put(q, _guess_limb(limb, q, measure, is_alone=is_alone))
    return q


def _guess_limb(limb: Limb, q_robot: Vec, measure: Measure, *, is_alone: bool) -> Vec:
    """Return a home for a limb while the robot's other joints stand as told."""
    rng = np.random.default_rng(_SEED)
    low = np.where(np.isfinite(limb.q_min), limb.q_min, -_TURN)
    high = np.where(np.isfinite(limb.q_max), limb.q_max, _TURN)
    margin = 0.15 * (high - low)  # chosen: away from limits
    low, high = low + margin, high - margin
    plain = np.clip(limb.home, low, high)
    tried = [plain, *rng.uniform(low, high, (_N_POSTURES, len(plain)))]
    score = _make_score(limb, tried, plain, is_alone=is_alone)

    def measure_limb(q: Vec) -> float:
        return measure(limb.put(q_robot, q))

    ranked = sorted(tried, key=score, reverse=True)[:_N_TRIED]
    best, room = _choose_free([*ranked, plain], measure_limb)
    home = _make_plain(best, plain, score, lambda q: measure_limb(q) > room)
    return np.clip(np.round(home, 2), low, high)


def _choose_free(ranked: list[Vec], measure: Measure) -> tuple[Vec, float]:
    """Return the best posture that has room, and how much; the best if none is free."""
    found: dict[float, Vec] = {}
    for q in ranked:
        clearance = measure(q)
        for room in _ROOMS:
            if clearance > room:
                found.setdefault(room, q)
        if _ROOMS[0] in found:
            break
    room = max(found, default=0.0)
    return found.get(room, ranked[0]), room


def _make_score(limb: Limb, tried: list[Vec], plain: Vec, *, is_alone: bool) -> Score:
    reach = max(float(np.linalg.norm(limb.fk(q).translation)) for q in tried)
    n_rows = _FULL_TASK if len(plain) >= _FULL_TASK else min(3, len(plain))
    span = np.where(np.isfinite(limb.q_max - limb.q_min), limb.q_max - limb.q_min, 1e3)

    def score(q: Vec) -> float:
        J = limb.jacobian(q).copy()
        J[:3] /= max(reach, 1e-6)
        if n_rows < _FULL_TASK:
            J = J[:3]
        sigma = float(np.linalg.svd(J, compute_uv=False)[n_rows - 1])
        share = np.minimum(q - limb.q_min, limb.q_max - q) / span
        room = float(np.clip(np.min(share) / _FREE_SHARE, 0.0, 1.0))
        far = float(np.linalg.norm(q - plain))
        is_low = is_alone and limb.fk(q).translation[2] < 0.1 * reach
        return sigma * room / (1.0 + 0.1 * far) * (0.1 if is_low else 1.0)

    return score


def _make_plain(
    best: Vec, plain: Vec, score: Score, is_free: Callable[[Vec], bool]
) -> Vec:
    q = np.array(best)
    floor = _CHEAP * score(q)
    for k in range(len(q)):
        trial = q.copy()
        trial[k] = plain[k]
        if score(trial) >= floor and is_free(trial):
            q = trial
    return q
