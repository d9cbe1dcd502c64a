"""Interface of engines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import TracebackType
from typing import Any, NamedTuple

Json = dict[str, Any]
Job = Mapping[str, Any]


class Ended(NamedTuple):
    """A finished job; ``outcome`` is None if the worker died."""

    job: Job
    outcome: Json | None
    reason: str = ""


class Engine(ABC):
    """Persistent workers; a context manager."""

    @property
    @abstractmethod
    def n_free(self) -> int:
        """Number of further jobs."""

    @abstractmethod
    def submit(self, job: Job) -> None:
        """Take a job."""

    @abstractmethod
    def wait(self) -> list[Ended]:
        """Return finished jobs; wait at most 1 s."""

    @abstractmethod
    def close(self) -> None:
        """Stop all workers."""

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
