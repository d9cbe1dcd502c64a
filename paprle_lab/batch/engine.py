"""Interface of the engines that run the cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import TracebackType
from typing import Any, NamedTuple

Json = dict[str, Any]
Job = Mapping[str, Any]


class Ended(NamedTuple):
    """A job that is over.

    Attributes:
        job: What was given.
        outcome: What ``do_job`` returned; None: whoever did it died.
        reason: Why there is no outcome.
    """

    job: Job
    outcome: Json | None
    reason: str = ""


class Engine(ABC):
    """Workers that live on from cell to cell; used as a context."""

    @property
    @abstractmethod
    def n_free(self) -> int:
        """The number of further jobs that it can take."""

    @abstractmethod
    def submit(self, job: Job) -> None:
        """Take a job."""

    @abstractmethod
    def wait(self) -> list[Ended]:
        """Return jobs that are over; waits a second for one at most."""

    @abstractmethod
    def close(self) -> None:
        """Let all workers go."""

    def __enter__(self) -> Engine:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let all workers go."""
        self.close()
