"""Report on a data set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paprle_lab.dataset.episodes import LeftOut
from paprle_lab.dataset.resampling_error import Account

_MUCH = 1.0  # [s] chosen: cameras begin and end some frames apart


@dataclass
class DatasetReport:
    """Counts, time errors and omissions by source."""

    fps: int
    n_episodes: int = 0
    n_frames: int = 0
    n_before: int = 0
    columns: dict[str, list[str]] = field(default_factory=dict)
    accounts: dict[str, Account] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, recording: Mapping[str, Any]) -> None:
        """Add one recording's account."""
        for name, values in recording["accounts"].items():
            self.accounts.setdefault(name, Account()).add(Account(**values))
        told = describe_trimmed(recording["trimmed"], recording["ended"])
        n, n_undriven = recording["n_frames"], recording.get("n_undriven", 0)
        if n_undriven:
            share = n_undriven / (n + n_undriven)
            told.append(
                f"{n_undriven} of {n + n_undriven} frames ({share:.0%}) that nobody "
                "drove are left out; --keep-undriven keeps them"
            )
        self.notes += [f"{recording['file']}: {text}" for text in told]

    def lines(self) -> Iterator[str]:
        """Yield the report."""
        before = f", {self.n_before} recordings were in it" if self.n_before else ""
        yield (
            f"{self.n_episodes} episodes, {self.n_frames} frames at {self.fps} Hz"
            f"{before}"
        )
        for name, account in self.accounts.items():
            for column in self.columns.get(name, [name]):
                yield f"  {column:<28} {account.describe()}"
        for path, reason, _ in self.left_out:
            yield f"left out: {path}: {reason}"
        yield from self.notes


def describe_trimmed(trimmed: Sequence[float], ended: str) -> list[str]:
    """Return lines on long omitted ends."""
    begin, end = trimmed
    told = []
    if begin > _MUCH:
        told.append(f"its first {begin:.1f} s are left out: not everything had begun")
    if end > _MUCH:
        told.append(f"its last {end:.1f} s are left out: '{ended}' had ended")
    return told
