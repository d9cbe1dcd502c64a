"""Stability bound F2 with the damping of hand and gears.

A hand damps its handle by b_h and b_r; dry friction c gives c / v₀ up to the speed v₀
(Diolaiti et al. 2006). With d = T/2 + bus delay,

    λ_max(B_c^−½ [2 d Σ K] B_c^−½) ≤ 1,  B_c = B + c / v₀ + Jᵀ diag(b_h, b_r) J
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import Vec
from paprle.haptics.inputs import list_postures
from paprle.haptics.joints import LeaderJoints, LeaderLimb
from paprle.haptics.stability.check import Delays, Margin, Springs
from paprle.haptics.stability.gain_scaling import GainFit

Flags = npt.NDArray[np.bool_]

HAND = 1.5
"""Damping of a handle by the loosest grip, b_h, [N·s/m]. chosen: a fifth of what
relaxed arms show, 5 to 20 N·s/m."""

WRIST = 0.02
"""The same about any axis, b_r, [N·m·s/rad]. chosen: a relaxed wrist alone has more."""

_UNKNOWN_LEVER = 0.3  # [m] chosen: of a leader without kinematics: a forearm
_SPEED = 1.0  # v₀ [rad/s] chosen: 30 cm/s at a forearm's end; who presses is slower
_FIT = 0.9  # chosen: gains are scaled to this share of what is stable
_N_HALVED = 10  # chosen: a scale within a thousandth
_GRIP = np.array([HAND] * 3 + [WRIST] * 3)


def find_held_damping(limb: LeaderLimb, joints: LeaderJoints, dry_share: float) -> Vec:
    """Return B_c without the cancelled dry friction, (N, m, m), [N·m·s/rad]."""
    own = joints.damping[limb.rows]
    own = own + (1.0 - min(dry_share, 1.0)) * joints.dry[limb.rows] / _SPEED
    found, n = [], limb.n_arm
    for q in list_postures(limb, joints):
        B = np.diag(own)
        if limb.arm is None:
            B[:n, :n] += HAND * _UNKNOWN_LEVER**2 * np.eye(n)
        else:
            J = limb.arm.place(q).J_handle
            B[:n, :n] += J.T @ (_GRIP[:, None] * J)
        found.append(B)
    return np.array(found)


def measure_held_margin(
    springs: Springs, B: Vec, joints: Sequence[str], delays: Delays
) -> Margin:
    """Return a limb's margin in contact at its worst posture."""
    late = 2.0 * delays.contact * springs.local
    late = late + 2.0 * delays.delayed * springs.delayed
    root = np.linalg.inv(np.linalg.cholesky(B))
    scaled = root @ late.sum(axis=1) @ root.swapaxes(1, 2)
    values, vectors = np.linalg.eigh(scaled)
    i = int(values[:, -1].argmax())
    u = root[i].T @ vectors[i, :, -1]
    top = int(np.abs(u).argmax())
    ratio = float(values[i, -1])
    parts = [(name, float(u @ late[i, k] @ u)) for k, name in enumerate(springs.names)]
    parts.sort(key=lambda part: -part[1])
    K = (springs.local[i] + springs.delayed[i]).sum(axis=0)[top, top]
    return Margin(
        ratio, joints[top], float(K), float(B[i, top, top]),
        float(springs.lost[i, top]),
        tuple(part for part in parts if part[1] > 0.01 * max(ratio, 1e-12)),
    )  # fmt: skip


def fit_held(
    springs: Springs,
    is_scalable: Flags,
    groups: Sequence[Vec],
    B: Vec,
    joints: Sequence[str],
    delays: Delays,
) -> GainFit:
    """Return the scales of the laws of contact, and their margin.

    As ``fit_laws``, with B of ``find_held_damping``.
    """
    gain_scale = np.ones(B.shape[-1])
    for group in groups:
        rows = np.ix_(np.arange(len(B)), group, group)
        part, names = springs.select(group), [joints[i] for i in group]
        gain_scale[group] = _find_scale(part, is_scalable, B[rows], names, delays)
    whole = springs.scale(is_scalable, gain_scale)
    gain_scale *= _find_scale(whole, is_scalable, B, joints, delays)
    whole = springs.scale(is_scalable, gain_scale)
    return GainFit(gain_scale, measure_held_margin(whole, B, joints, delays))


def _find_scale(
    springs: Springs,
    is_scalable: Flags,
    B: Vec,
    joints: Sequence[str],
    delays: Delays,
) -> float:
    ones = np.ones(B.shape[-1])

    def fits(factor: float) -> bool:
        scaled = springs.scale(is_scalable, factor * ones)
        return measure_held_margin(scaled, B, joints, delays).ratio <= _FIT

    if not is_scalable.any() or fits(1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_N_HALVED):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
