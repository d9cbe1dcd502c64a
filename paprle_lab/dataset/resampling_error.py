"""Account of the resampling of a column, and of the time errors of its values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass
class Account:
    """One column of an episode, or of several.

    Attributes:
        n_frames: Frames written.
        n_exact: Frames with a sample of their own, the command in force, or an image
            that no other frame shows.
        n_interpolated: Frames between two samples, which were interpolated.
        n_held: Frames that repeat a value: a sample or command over a gap, an image
            that the frame before shows.
        n_dropped: Samples or images that could not be used, and images that no frame
            shows.
        n_gaps: Frames whose value is farther off in time than its source allows.
        worst: Largest time between a frame and the nearest sample that its value is
            of, [s]; of a command: how long ago it was sent.
    """

    n_frames: int = 0
    n_exact: int = 0
    n_interpolated: int = 0
    n_held: int = 0
    n_dropped: int = 0
    n_gaps: int = 0
    worst: float = 0.0

    def count(self, how: str, error_ns: int, *, limit_ns: int) -> None:
        """Count a frame.

        Args:
            how: ``exact``, ``interpolated`` or ``held``.
            error_ns: How far its value is off in time, [ns].
            limit_ns: More is a gap, [ns].
        """
        self.n_frames += 1
        name = f"n_{how}"
        setattr(self, name, getattr(self, name) + 1)
        self.n_gaps += error_ns > limit_ns
        self.worst = max(self.worst, error_ns * 1e-9)

    def add(self, other: Account) -> None:
        """Add what became of the same column in another episode."""
        for name, value in asdict(other).items():
            mine = getattr(self, name)
            setattr(self, name, max(mine, value) if name == "worst" else mine + value)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return asdict(self)

    def describe(self) -> str:
        """Return one line for people."""
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
