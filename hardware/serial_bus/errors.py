"""Errors of a servo bus."""

from __future__ import annotations

from collections.abc import Sequence


class BusError(OSError):
    """A port, bus or servo failed; ``problems`` has one line each."""

    def __init__(self, problems: str | Sequence[str]) -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class BusTimeout(BusError, TimeoutError):
    """No answer came in time."""


class ServoError(BusError):
    """A servo answers, but refuses a value."""
