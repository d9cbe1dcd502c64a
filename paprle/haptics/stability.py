"""The stability gate F2: no stiffness that the leader's damping cannot hold.

A spring whose reaction comes late by d behaves as damping −K d. With the sum of all
laws, over the leader's workspace, and a factor of two in hand,

    λ_max( B^−½ [ 2 (T/2 + T_d) K_local + 2 (T/2 + T_d + L̂) K_delayed ] B^−½ ) ≤ 1

where B is the measured damping and what laws add to it or cancel of it, T the period,
T_d the loop's delay and L̂ the longest lag that the reference may have. With all of K
delayed this is λ_max(B^−½ K B^−½) ≤ ½ / (T/2 + T_d + L̂) (``safety.md`` F2 as amended;
Colgate and Schenkel 1997 for the half period).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from paprle.errors import ConfigError
from paprle.feedback_settings import RigSettings
from paprle.interfaces import FeedbackInput, FeedbackLaw
from paprle.types import Vec


class Weighted(NamedTuple):
    """A law by name, and its weight."""

    name: str
    law: FeedbackLaw[Any]
    weight: float


class Delays(NamedTuple):
    """What makes a spring late, [s]."""

    period: float
    loop: float
    lag: float

    @classmethod
    def of(cls, rate: float, rig: RigSettings) -> Delays:
        """Return those of a rig; the lag as long as it may ever be learnt to be."""
        lag = (rig.dead_time + rig.time_constant) * (1.0 + rig.lag_spread)
        return cls(1.0 / rate, rig.loop_delay, lag)

    @property
    def local(self) -> float:
        """Of a spring to a reference that stands still."""
        return self.period / 2.0 + self.loop

    @property
    def delayed(self) -> float:
        """Of a spring to the follower."""
        return self.local + self.lag


class Margin(NamedTuple):
    """How near the laws come to the bound, where they come nearest.

    Attributes:
        ratio: Of stiffness to what is stable; 1 is the bound, 2 decays no more.
        joint: The joint that has most of it.
        K: Stiffness at that joint of all laws, [N·m/rad].
        B: Damping that is left there, [N·m·s/rad]; not above 0: none.
        lost: Damping that laws cancel there, [N·m·s/rad].
        shares: Share of the ratio by law, the largest first.
    """

    ratio: float
    joint: str
    K: float
    B: float
    lost: float
    shares: tuple[tuple[str, float], ...]


def measure_margin(
    laws: Sequence[Weighted],
    postures: Sequence[FeedbackInput],
    damping: Vec,
    joints: Sequence[str],
    delays: Delays,
) -> Margin:
    """Find the posture in which a limb's laws come nearest to the bound.

    Args:
        laws: All that are on.
        postures: Inputs over the limb's workspace.
        damping: Measured damping, shape (m,), [N·m·s/rad].
        joints: Names of the limb's joints.
        delays: What makes springs late.

    Returns:
        The worst.
    """
    found = (_measure(laws, at, damping, joints, delays) for at in postures)
    return max(found, key=lambda margin: margin.ratio)


def _measure(
    laws: Sequence[Weighted],
    at: FeedbackInput,
    damping: Vec,
    joints: Sequence[str],
    delays: Delays,
) -> Margin:
    m = damping.size
    late, K = np.zeros((len(laws), m, m)), np.zeros((m, m))
    change = np.zeros(m)
    for i, (_, law, weight) in enumerate(laws):
        local, delayed = law.stiffness(at)
        late[i] = 2.0 * weight * (delays.local * local + delays.delayed * delayed)
        K += weight * (local + delayed)
        change += weight * law.damping(at)
    B = damping + change
    if (B <= 0.0).any():
        worst = int(B.argmin())
        return Margin(np.inf, joints[worst], 0.0, B[worst], -change[worst], ())
    root = 1.0 / np.sqrt(B)
    late = (late + late.transpose(0, 2, 1)) / 2.0 * root[:, None] * root
    values, vectors = np.linalg.eigh(late.sum(axis=0))
    v = vectors[:, -1]
    worst = int(np.abs(v).argmax())
    parts = [
        (law.name, float(v @ one @ v)) for law, one in zip(laws, late, strict=True)
    ]
    parts.sort(key=lambda part: -part[1])
    shares = tuple(part for part in parts if part[1] > 0.01 * max(values[-1], 1e-12))
    return Margin(
        float(values[-1]), joints[worst], K[worst, worst], B[worst],
        -change[worst], shares,
    )  # fmt: skip


def refuse_unstable(margins: Sequence[Margin], delays: Delays) -> None:
    """Refuse laws above the bound.

    Args:
        margins: One a limb.
        delays: What makes springs late.

    Raises:
        ConfigError: With every limb that is above it, its numbers, and what to lower.
    """
    problems = [_say(margin, delays) for margin in margins if not margin.ratio <= 1.0]
    if problems:
        raise ConfigError(problems)


def _say(margin: Margin, delays: Delays) -> str:
    if margin.B <= 0.0:
        return (
            f"feedback: {margin.joint}: expected damping above 0, got "
            f"{margin.B:.3g} [N·m·s/rad] with {margin.lost:.3g} cancelled; lower the "
            "shares of feedback.laws.friction"
        )
    times = " + ".join(
        f"{name} {1e3 * value:.1f} ms"
        for name, value in (
            ("T/2", delays.period / 2.0),
            ("T_d", delays.loop),
            ("L̂", delays.lag),
        )  # fmt: skip
    )
    blame = ", ".join(f"{name} {share:.2f}" for name, share in margin.shares)
    cancelled = f", {margin.lost:.3g} cancelled" if margin.lost > 0.0 else ""
    return (
        f"feedback: {margin.joint}: expected 2 (T/2 + T_d + L̂) K / B ≤ 1, got "
        f"{margin.ratio:.2f} (K {margin.K:.3g} N·m/rad; B {margin.B:.3g} "
        f"N·m·s/rad{cancelled}; {times}) from {blame}; lower "
        f"feedback.laws.{margin.shares[0][0]}.weight, or all weights by "
        f"{1.0 / margin.ratio:.2f}; measure the rig with: paprle identify"
    )
