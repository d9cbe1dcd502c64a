"""Errors of a servo bus."""

from __future__ import annotations

from collections.abc import Sequence


class BusError(OSError):
    """Failed port, bus or servo; ``problems`` has a line each."""

    def __init__(self, problems: str | Sequence[str]) -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class BusTimeout(BusError, TimeoutError):
    """No answer in time."""


class ServoError(BusError):
    """Refused value."""
