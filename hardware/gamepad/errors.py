"""The error of game controllers."""

from __future__ import annotations

from collections.abc import Sequence


class PadError(OSError):
    """A game controller is not there, or SDL refuses.

    Attributes:
        problems: Everything that was found, one line each.
    """

    def __init__(self, problems: str | Sequence[str]) -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))
