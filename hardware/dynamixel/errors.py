"""The errors of a servo bus.

::

    BusError(OSError)              a port, bus or servo failed; says what to do
    ├── BusTimeout(TimeoutError)   nobody answered in time
    └── ServoError                 a servo answers, and refuses
"""

from __future__ import annotations

from collections.abc import Sequence


class BusError(OSError):
    """A port, bus or servo failed.

    Attributes:
        problems: Everything that was found, one line each.
    """

    def __init__(self, problems: str | Sequence[str]) -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class BusTimeout(BusError, TimeoutError):
    """No answer came in time."""


class ServoError(BusError):
    """A servo answers, and refuses or does not hold what it was told."""
