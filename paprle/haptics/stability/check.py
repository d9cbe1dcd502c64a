"""Stability bound F2 on laws (Colgate and Schenkel 1997).

At every frequency ω, over the workspace, with s(ω, d) = sin(ω d) / ω:

    λ_max(B_ω^−½ K_ω B_ω^−½) ≤ 1,  B_ω = B + b Re[e^{−jω (T/2 + T_d)} / (1 + jω τ)]
    K_ω = 2 s(ω, T/2 + T_d) K_local + 2 s(ω, T/2 + T_d + L̂) K_delayed

Period T, loop delay T_d, longest lag L̂, remaining damping B, added damping b behind a
filter τ (``safety.md`` F2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paprle.contracts.errors import ConfigError
from paprle.contracts.plugins import FeedbackInput, FeedbackLaw
from paprle.contracts.settings.feedback import RigSettings
from paprle.contracts.types import Vec

_SLOWEST = 1.0  # [rad/s] chosen: below it, all delays are as at rest
_BUS_SHARE = 0.5  # chosen: of T_d; of four loops on the way, the bus is two halves
_YIELDS = 0.2173  # spec: the largest of −sin x / x (``paprle.haptics.remote_follower``)
_N_OMEGA = 48  # chosen: denser changes the bound by less than 1 %


class Weighted(NamedTuple):
    """Law with its weight, one or of shape (m,)."""

    name: str
    law: FeedbackLaw[Any]
    weight: float | Vec
    is_scalable: bool = False


class Delays(NamedTuple):
    """Delays of a spring, [s].

    Attributes:
        loop: From the leader's motion to its torque.
        bus: Of a torque against a held follower, with the share of a link.
    """

    period: float
    loop: float
    lag: float
    bus: float
    round_trip: float = 0.0

    @classmethod
    def of(cls, rate: float, rig: RigSettings, round_trip: float = 0.0) -> Delays:
        """Return a rig's delays at its slowest joint; rate in [Hz]."""
        lags = ((rig.dead_time, rig.time_constant), *rig.lags.values())
        lag = max(map(sum, lags)) * (1.0 + rig.lag_spread)
        own = rig.leader_delay
        bus = _BUS_SHARE * rig.loop_delay if own is None else own
        if round_trip > 0.0:  # what holds a robot far away may yield
            bus += _YIELDS * (round_trip + lag)
        return cls(1.0 / rate, rig.loop_delay, lag, bus, round_trip)

    @property
    def local(self) -> float:
        """Delay to a fixed reference."""
        return self.period / 2.0 + self.loop

    @property
    def contact(self) -> float:
        """Delay to a held follower."""
        return self.period / 2.0 + self.bus

    @property
    def delayed(self) -> float:
        """Delay to a moving follower."""
        return self.local + self.lag


def find_loop_delay(leader: float, session: float, gate: float) -> float:
    """Return the least delay, [s], of loops at these rates, [Hz].

    Each passage waits half a period; bus and gate are passed twice.
    """
    return 0.5 * (2.0 / leader + 1.0 / session + 2.0 / gate)


class Margin(NamedTuple):
    """Stability margin in the posture nearest to the bound.

    Attributes:
        ratio: Stiffness over the stable one; 1 is the bound, 2 no longer decays.
        K: Stiffness there, [N·m/rad].
        B: Remaining damping there, [N·m·s/rad]; may be ≤ 0.
        lost: Damping cancelled there, [N·m·s/rad].
    """

    ratio: float
    joint: str
    K: float
    B: float
    lost: float
    shares: tuple[tuple[str, float], ...]


class Springs(NamedTuple):
    """Springs and damping of P laws over N postures of m joints.

    Attributes:
        local: Stiffness against a fixed reference, (N, P, m, m), [N·m/rad].
        delayed: Stiffness against the follower, likewise.
        lost: Cancelled damping, (N, m), [N·m·s/rad].
        added: Added damping, (N, P, m).
        filters: Time constants of added damping, (P,), [s].
    """

    names: tuple[str, ...]
    local: Vec
    delayed: Vec
    lost: Vec
    added: Vec
    filters: Vec

    def select(self, joints: Vec) -> Springs:
        """Return the springs of some joints."""
        rows, columns = np.ix_(joints, joints)
        return self._replace(
            local=self.local[..., rows, columns],
            delayed=self.delayed[..., rows, columns],
            lost=self.lost[:, joints],
            added=self.added[..., joints],
        )

    def scale(self, laws: npt.NDArray[np.bool_], gain_scale: Vec) -> Springs:
        """Return springs, scaled by joint for some laws."""
        # within a group the factor is one; between groups such laws have no stiffness
        root = np.sqrt(gain_scale)
        share = np.where(laws[:, None, None], root[:, None] * root, 1.0)
        return self._replace(local=self.local * share, delayed=self.delayed * share)

    def mute(self, laws: npt.NDArray[np.bool_]) -> Springs:
        """Return springs without some laws' stiffness."""
        return self._replace(
            local=np.where(laws[:, None, None], 0.0, self.local),
            delayed=np.where(laws[:, None, None], 0.0, self.delayed),
        )


def read_springs(
    laws: Sequence[Weighted], postures: Sequence[FeedbackInput]
) -> Springs:
    """Return all laws' springs in every posture."""
    n, p, m = len(postures), len(laws), postures[0].q.size
    local, delayed = np.zeros((2, n, p, m, m))
    damping = np.zeros((n, p, m))
    for i, at in enumerate(postures):
        for k, (_, law, weight, _) in enumerate(laws):
            w = np.broadcast_to(weight, m)
            K_local, K_delayed = law.stiffness(at)
            local[i, k], delayed[i, k] = w[:, None] * K_local, w[:, None] * K_delayed
            damping[i, k] = w * law.damping(at)
    return Springs(
        tuple(law.name for law in laws),
        (local + local.swapaxes(2, 3)) / 2.0,
        (delayed + delayed.swapaxes(2, 3)) / 2.0,
        -np.minimum(damping, 0.0).sum(axis=1),
        np.maximum(damping, 0.0),
        np.array([law.law.velocity_lag for law in laws]),
    )


def measure_margin(
    springs: Springs, damping: Vec, joints: Sequence[str], delays: Delays
) -> Margin:
    """Return a limb's margin at its worst posture and frequency.

    ``damping`` has shape (m,), [N·m·s/rad].
    """
    omega = _list_frequencies(springs, delays)
    B = _find_damping(springs, damping, omega, delays)  # (N, W, m)
    if (B <= 0.0).any():
        i, _, worst = np.unravel_index(int(B.argmin()), B.shape)
        lost = float(springs.lost[i, worst])
        return Margin(np.inf, joints[int(worst)], 0.0, float(B.min()), lost, ())
    # [s] the damping that a unit of stiffness takes away
    local, delayed = (
        2.0 * d * np.sinc(omega * d / np.pi) for d in (delays.local, delays.delayed)
    )
    late = local[:, None, None] * springs.local.sum(axis=1)[:, None]
    late += delayed[:, None, None] * springs.delayed.sum(axis=1)[:, None]
    root = 1.0 / np.sqrt(B)
    values, vectors = np.linalg.eigh(late * root[..., None] * root[..., None, :])
    i, j = np.unravel_index(int(values[..., -1].argmax()), B.shape[:2])
    v, ratio = vectors[i, j, :, -1], float(values[i, j, -1])
    top = int(np.abs(v).argmax())
    u = root[i, j] * v
    each = local[j] * springs.local[i] + delayed[j] * springs.delayed[i]
    parts = [
        (name, float(u @ one @ u))
        for name, one in zip(springs.names, each, strict=True)
    ]
    parts.sort(key=lambda part: -part[1])
    K = (springs.local[i] + springs.delayed[i]).sum(axis=0)[top, top]
    return Margin(
        ratio, joints[top], float(K), float(B[i, j, top]),
        float(springs.lost[i, top]),
        tuple(part for part in parts if part[1] > 0.01 * max(ratio, 1e-12)),
    )  # fmt: skip


def _list_frequencies(springs: Springs, delays: Delays) -> Vec:
    if not springs.added.any():
        return np.zeros(1)
    fastest = np.pi / delays.period
    return np.append(0.0, np.geomspace(_SLOWEST, fastest, _N_OMEGA))


def _find_damping(springs: Springs, damping: Vec, omega: Vec, delays: Delays) -> Vec:
    turn = np.exp(-1j * omega * delays.local)
    share = (turn / (1.0 + 1j * np.outer(springs.filters, omega))).real  # (P, W)
    added = np.einsum("npm,pw->nwm", springs.added, share)
    return np.asarray(damping - springs.lost[:, None] + added)


def refuse_unstable(margins: Sequence[Margin], delays: Delays) -> None:
    """Refuse laws above the bound.

    Raises:
        ConfigError: With every limb above it and the remedy.
    """
    problems = [
        _describe(margin, delays) for margin in margins if not margin.ratio <= 1.0
    ]
    if problems:
        raise ConfigError(problems)


def _describe(margin: Margin, delays: Delays) -> str:
    if margin.B <= 0.0:
        what, blame = (
            (f"{margin.lost:.3g} cancelled", "the shares of feedback.laws.friction")
            if margin.lost > 0.0
            else ("that of a law turned against quick motion", "feedback.laws.damping")
        )
        return (
            f"feedback: {margin.joint}: expected damping above 0, got "
            f"{margin.B:.3g} [N·m·s/rad] with {what}; lower {blame}"
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
        f"N·m·s/rad{cancelled}; {times}{_describe_link(delays)}) from {blame}; lower "
        f"feedback.laws.{margin.shares[0][0]}.weight, or all weights by "
        f"{1.0 / margin.ratio:.2f}; measure the rig with: paprle identify"
    )


def _describe_link(delays: Delays) -> str:
    if not delays.round_trip:
        return ""
    added = _YIELDS * (delays.round_trip + delays.lag)
    return (
        f"; contact over a link of {1e3 * delays.round_trip:.0f} ms there and back: "
        f"T/2 + {1e3 * delays.bus:.1f} ms, of which {1e3 * added:.1f} ms are the link's"
    )
