"""Home postures of undescribed limbs, far from singularities, limits and bodies."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from paprle.contracts.types import RobotInfo, Vec
from paprle.robot.arrays import Bools
from paprle.robot.chain import Limb
from paprle.robot.mirror import Twin

_N_POSTURES = 400  # chosen: 20 ms, and the best changes little with more
_N_TRIED = 40  # chosen: of the best, for room: bodies are slow, 1 ms each and more
_SEED = 0  # chosen: the same guess every time
_FREE_SHARE = 0.2  # [1] chosen: of the range; nearer to a limit a posture is worse
_CHEAP = 0.9  # [1] chosen: share of the score kept when a joint is put back
_TURN = np.pi / 2  # [rad] chosen: how far continuous joints are tried
_WIDE = 4.01 * np.pi  # [rad] chosen: beyond two turns a range says little of postures
_ROOMS = (0.05, 0.02, 0.0)  # [m] chosen: clearances of home, the first that is found
_CHANGE = 1e-9  # [m] chosen: above rounding; a pair that changes less does not move
_SPREADS = (
    0.05,
    0.1,
    0.2,
    0.4,
    0.8,
)  # chosen: of the range, how far joints are moved apart
_N_NEAR = 80  # chosen: postures of each spread
_DIGITS = 4  # chosen: as a YAML says them
_N_LOOKS = 1200  # chosen: in vain, one after the other; 50 ms each on a Tiago
_EDGE = 0.02  # [1] chosen: of the range, kept from limits while parting
_FULL_TASK = 6

Score = Callable[[Vec], float]
Measure = Callable[[Vec], Vec]
"""Takes positions, shape (n,), [rad]; returns distances of pairs, shape (k,), [m]."""


def guess_home(
    info: RobotInfo,
    limbs: Mapping[str, Limb],
    measure: Measure,
    twins: Mapping[str, Twin] | None = None,
) -> Vec:
    """Return homes for all limbs, one after the other, (n,).

    Without a free posture, the nearest to one is taken.
    """
    q, is_alone = np.array(info.home), len(limbs) == 1
    twins = twins or {}
    images = {twin.limb.name for twin in twins.values()}
    for limb in limbs.values():
        if limb.name not in images:
            q = _guess_limb(limb, twins.get(limb.name), q, measure, is_alone=is_alone)
    return _part(info, q, measure)


def _part(info: RobotInfo, q: Vec, measure: Measure) -> Vec:
    low = np.where(np.isfinite(info.q_min), info.q_min, q - _TURN)
    high = np.where(np.isfinite(info.q_max), info.q_max, q + _TURN)
    low, high = low + _EDGE * (high - low), high - _EDGE * (high - low)
    grippers = {limb.gripper.joint for limb in info.limbs if limb.gripper}
    may_move = np.array([name not in grippers for name in info.joint_names])

    n_a_pair = 2 * len(q) + len(_SPREADS) * _N_NEAR
    better: Vec | None = q
    while better is not None:
        q, better = better, None
        clearances = measure(q)
        order = np.argsort(clearances)[: _count_contacts(clearances)]
        for pair in order[: max(1, _N_LOOKS // n_a_pair)]:
            movers = _find_movers(q, low, high, int(pair), measure) & may_move
            better = _try_near(q, low, high, movers, measure)
            if better is not None:
                break
    return q


def _count_contacts(clearances: Vec) -> int:
    return int((clearances <= 0.0).sum())


def _try_near(
    q: Vec, low: Vec, high: Vec, movers: Bools, measure: Measure
) -> Vec | None:
    rng = np.random.default_rng(_SEED)
    fewest, best = _count_contacts(measure(q)), None
    for spread in _SPREADS if movers.any() else ():
        for _ in range(_N_NEAR):
            step = spread * (high - low) * rng.normal(size=len(q))
            trial = np.clip(np.round(q + step, _DIGITS), low, high)
            trial = np.where(movers, trial, q)
            n = _count_contacts(measure(trial))
            if n < fewest:
                fewest, best = n, trial
        if best is not None:
            break
    return best


def _find_movers(q: Vec, low: Vec, high: Vec, pair: int, measure: Measure) -> Bools:
    here, movers = measure(q)[pair], np.zeros(len(q), dtype=np.bool_)
    for j in range(len(q)):
        for end in (low[j], high[j]):
            trial = q.copy()
            trial[j] += 0.3 * (end - q[j])
            movers[j] |= abs(measure(trial)[pair] - here) > _CHANGE
    return movers


def _guess_limb(
    limb: Limb, twin: Twin | None, q_robot: Vec, measure: Measure, *, is_alone: bool
) -> Vec:
    rng = np.random.default_rng(_SEED)
    low, high = _find_limits(limb, twin)
    margin = 0.15 * (high - low)  # chosen: away from limits
    low, high = low + margin, high - margin
    plain = np.clip(limb.home, low, high)
    tried = [plain, *rng.uniform(low, high, (_N_POSTURES, len(plain)))]
    score = _make_score(limb, tried, plain, is_alone=is_alone)

    def place(q: Vec) -> Vec:
        placed = limb.put(q_robot, q)
        return placed if twin is None else twin.limb.put(placed, twin.signs * q)

    first, other = (measure(place(q)) for q in tried[:2])
    is_own = np.abs(first - other) > _CHANGE

    def measure_limb(q: Vec) -> float:
        clearances = measure(place(q))
        return float(clearances[is_own].min(initial=math.inf))

    ranked = sorted(tried, key=score, reverse=True)
    ranked.insert(_N_TRIED, plain)
    best, room = _choose_free(ranked, measure_limb)
    home = _make_plain(best, plain, score, lambda q: measure_limb(q) > room)
    return place(np.clip(np.round(home, 2), low, high))


def _find_limits(limb: Limb, twin: Twin | None) -> tuple[Vec, Vec]:
    low, high = limb.q_min, limb.q_max
    if twin is not None:
        ends = twin.signs * np.array([twin.limb.q_min, twin.limb.q_max])
        low, high = (
            np.maximum(low, ends.min(axis=0)),
            np.minimum(high, ends.max(axis=0)),
        )
    low, high = (
        np.where(np.isfinite(low), low, -_TURN),
        np.where(np.isfinite(high), high, _TURN),
    )
    is_wide = high - low > _WIDE
    middle = np.clip(0.0, low + np.pi, np.maximum(high - np.pi, low + np.pi))
    low, high = (
        np.where(is_wide, middle - np.pi, low),
        np.where(is_wide, middle + np.pi, high),
    )
    return low, np.maximum(low, high)


def _choose_free(ranked: list[Vec], measure: Score) -> tuple[Vec, float]:
    # More than the first are looked at only while none is free, and of those that all
    # touch the one that does least is taken.
    found: dict[float, Vec] = {}
    least, deepest = ranked[0], -math.inf
    for k, q in enumerate(ranked):
        if k > _N_TRIED and found:
            break
        clearance = measure(q)
        if clearance > deepest:
            least, deepest = q, clearance
        for room in _ROOMS:
            if clearance > room:
                found.setdefault(room, q)
        if _ROOMS[0] in found:
            break
    room = max(found, default=0.0)
    return found.get(room, least), room


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
