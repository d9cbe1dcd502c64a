"""Limits that the judge holds commands to, and its verdict on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]

INVARIANTS: Mapping[str, str] = {
    "M1": "finite",
    "M2": "position",
    "M3": "velocity",
    "M4": "acceleration",
    "M5": "jerk",
    "V1": "viability",
    "T1": "spacing",
}
"""What is judged: the identifier in docs/SAFETY.md and its everyday name."""

MOST_TURNING = 10_000  # chosen: a second at 10 kHz; so many rows are remembered
RELATIVE = 1e-9  # spec: M3 to M5 of docs/SAFETY.md, relative to V


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of a command sequence.

    Attributes:
        q_min: Lower position limits, shape (n,), [rad] or [m]; -inf: none.
        q_max: Upper position limits, shape (n,); +inf: none.
        dq_max: Velocity limits V, shape (n,), or one row a sample, shape (N, n).
        ddq_max: Acceleration limits A, shape (n,).
        h: Nominal period of a command, [s].
        dddq_max: Jerk limits J, shape (n,); None: jerk is not judged.
        joint_names: Names for messages; indices are used when empty.

    Raises:
        ValueError: If shapes differ or a number is no limit.
    """

    q_min: Vec
    q_max: Vec
    dq_max: Vec
    ddq_max: Vec
    h: float
    dddq_max: Vec | None = None
    joint_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        vectors = ["q_min", "q_max", "dq_max", "ddq_max"]
        for name in vectors + ["dddq_max"] * (self.dddq_max is not None):
            array = np.array(getattr(self, name), dtype=np.float64)
            object.__setattr__(self, name, array)
            if array.shape[-1:] != self.q_min.shape or np.isnan(array).any():
                message = f"limits: expected {name} of {self.q_min.shape}, no NaN"
                raise ValueError(f"{message}, got {array.shape}")
        if not (np.isfinite(self.h) and self.h > 0):
            raise ValueError(f"limits: expected a period h > 0, got {self.h}")
        if not ((self.ddq_max > 0).all() and (self.dq_max >= 0).all()):
            raise ValueError("limits: expected ddq_max > 0 and dq_max >= 0")
        if self.dddq_max is not None and not (self.dddq_max > 0).all():
            raise ValueError("limits: expected dddq_max > 0")
        if not self.count_turning() <= MOST_TURNING:
            raise ValueError(
                f"limits: expected A to turn around within {MOST_TURNING} periods of J"
            )
        if not (self.q_min <= self.q_max).all():
            raise ValueError("limits: expected q_min <= q_max for every joint")

    def count_turning(self) -> float:
        """Return how many periods J leaves for turning A to −A; may be infinite."""
        if self.dddq_max is None:
            return 1.0
        with np.errstate(divide="ignore", over="ignore"):
            turning = 2 * self.ddq_max / (self.dddq_max * self.h)
        return float(np.ceil(turning.max(initial=0.0) * (1 - RELATIVE)))

    @property
    def n_turning(self) -> int:
        """Periods that J leaves for turning the acceleration from A to −A."""
        return max(1, int(self.count_turning()))


@dataclass(frozen=True, slots=True)
class Violation:
    """One command that broke one invariant.

    Attributes:
        invariant: Key of ``INVARIANTS``.
        index: Index of the sample.
        joint: Index of the joint; -1 when it concerns all.
        value: What was found: position, velocity, acceleration, where a full brake
            would end (V1), or time since the last command (T1).
        limit: What was allowed.
    """

    invariant: str
    index: int
    joint: int
    value: float
    limit: float


@dataclass(frozen=True)
class Verdict:
    """Findings of the judge.

    Attributes:
        n_samples: Number of commands judged.
        counts: Number of samples in violation, by invariant judged; T1
            is judged only when there are stamps, M5 when there is J.
        violations: The first few findings of each invariant, in order of samples.
        joint_names: Names for the text.
    """

    n_samples: int
    counts: Mapping[str, int]
    violations: tuple[Violation, ...] = ()
    joint_names: tuple[str, ...] = field(default=(), repr=False)

    @property
    def is_ok(self) -> bool:
        """True when no invariant was broken."""
        return self.n_violations == 0

    @property
    def n_violations(self) -> int:
        """Number of (sample, invariant) pairs in violation."""
        return sum(self.counts.values())

    def __str__(self) -> str:
        if self.is_ok:
            return f"ok: {self.n_samples} commands keep {', '.join(self.counts)}"
        broken = [
            f"{key} {INVARIANTS[key]}: {count}"
            for key, count in self.counts.items()
            if count
        ]
        head = f"VIOLATED in {self.n_samples} commands: {'; '.join(broken)}"
        return "\n".join([head, *(self._line(item) for item in self.violations)])

    def _line(self, found: Violation) -> str:
        if found.joint < 0:
            joint = ""
        elif self.joint_names:
            joint = f" joint '{self.joint_names[found.joint]}'"
        else:
            joint = f" joint {found.joint}"
        name = f"{found.invariant} {INVARIANTS[found.invariant]}"
        return (
            f"  sample {found.index}{joint}: {name} "
            f"{found.value:.12g}, limit {found.limit:.12g}"
        )
