"""Who does the cells: what any engine is, and which there are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib import import_module
from types import TracebackType
from typing import Any, NamedTuple

from paprle.contracts.errors import ConfigError, MissingDependency

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
        """How many more jobs it takes."""

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


def make_engine(asked: str) -> Engine:
    """Start an engine.

    Args:
        asked: ``local``, ``local:N`` of N processes, ``ray``, or ``ray:ADDRESS``.

    Returns:
        The engine.

    Raises:
        ConfigError: If there is none of that name.
        MissingDependency: If Ray is not installed.
    """
    name, _, what = asked.partition(":")
    if name == "local":
        pool = import_module("paprle.batch.pool")
        if what and not (what.isdecimal() and 0 < int(what) <= pool.MOST):
            raise ConfigError(
                f"--on: expected local:N with N of 1 … {pool.MOST}, got '{asked}'"
            )
        made: Engine = pool.Pool(int(what) if what else pool.count_cores())
        return made
    if name == "ray":
        try:
            cluster = import_module("paprle.batch.cluster")
        except ImportError as err:
            raise MissingDependency(
                "--on ray: expected the package 'ray', got none; install it with: "
                "pip install 'paprle[ray]'"
            ) from err
        made = cluster.Cluster(what)
        return made
    raise ConfigError(f"--on: expected local or ray, got '{asked}'")
