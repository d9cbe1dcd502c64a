"""Errors of game controllers."""

from __future__ import annotations

from collections.abc import Sequence


class PadError(OSError):
    """Missing pad or SDL's refusal; ``problems`` has a line each."""

    def __init__(self, problems: str | Sequence[str]) -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))
