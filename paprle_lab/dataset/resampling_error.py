"""Time errors from resampling."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass
class Account:
    """One column of one or several episodes.

    Attributes:
        n_exact: Frames with an own sample, image or valid command.
        n_gaps: Frames beyond the source's time limit.
        worst: Largest time to a sample, or age of a command, [s].
    """

    n_frames: int = 0
    n_exact: int = 0
    n_interpolated: int = 0
    n_held: int = 0
    n_dropped: int = 0
    n_gaps: int = 0
    worst: float = 0.0

    def count(self, how: str, error_ns: int, *, limit_ns: int) -> None:
        """Count a frame."""
        self.n_frames += 1
        name = f"n_{how}"
        setattr(self, name, getattr(self, name) + 1)
        self.n_gaps += error_ns > limit_ns
        self.worst = max(self.worst, error_ns * 1e-9)

    def add(self, other: Account) -> None:
        """Add another episode's account."""
        for name, value in asdict(other).items():
            mine = getattr(self, name)
            setattr(self, name, max(mine, value) if name == "worst" else mine + value)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return asdict(self)

    def describe(self) -> str:
        """Return one line."""
        parts = [
            f"{n} {word}"
            for n, word in (
                (self.n_interpolated, "interpolated"),
                (self.n_held, "held"),
                (self.n_dropped, "dropped"),
                (self.n_gaps, "in gaps"),
            )
            if n
        ]
        told = ", ".join(parts) or "all exact"
        return f"{told}; worst time error {1e3 * self.worst:.1f} ms"
