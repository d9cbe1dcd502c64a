"""Verdict on commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from paprle.oracle.invariants import INVARIANTS


@dataclass(frozen=True, slots=True)
class Violation:
    """A command that broke an invariant, by ``joint``, -1: all.

    ``value`` is position, velocity, acceleration, end of a full brake (V1) or time
    since the last command (T1).
    """

    invariant: str
    index: int
    joint: int
    value: float
    limit: float


@dataclass(frozen=True)
class Verdict:
    """Findings of the judge; ``violations`` are the first of each invariant.

    ``counts`` has violating samples; T1 needs stamps, M5 needs J.
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
        """Number of violating (sample, invariant) pairs."""
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
