"""Ray cluster."""

from __future__ import annotations

from threading import Event
from typing import Any

import ray
from ray.exceptions import RayError

from paprle.contracts.errors import ConfigError
from paprle_lab.batch.engine import Ended, Engine, Job
from paprle_lab.batch.run_cell import do_job

_WAIT = 1.0  # [s] chosen: a progress bar goes on meanwhile
_AHEAD = 2  # chosen: jobs a core, so that none waits for the driver


class Cluster(Engine):
    """Tasks on a Ray cluster."""

    def __init__(self, address: str) -> None:
        """Join a cluster.

        Raises:
            ConfigError: If there is none.
        """
        try:
            ray.init(
                address=address or None, log_to_driver=False, logging_level="ERROR"
            )
        except (ConnectionError, ValueError, RuntimeError) as err:
            raise ConfigError(
                f"--on ray:{address}: expected a cluster, got none: {err}"
            ) from err
        self._task = ray.remote(num_cpus=1, max_retries=0)(do_job)
        self._jobs: dict[Any, Job] = {}

    @property
    def n_free(self) -> int:
        """Number of further jobs."""
        cores = int(ray.cluster_resources().get("CPU", 0))
        return max(_AHEAD * cores - len(self._jobs), 0)

    def submit(self, job: Job) -> None:
        """Submit a job."""
        self._jobs[self._task.remote(dict(job))] = job

    def wait(self) -> list[Ended]:
        """Return finished jobs; wait at most 1 s."""
        waiting = list(self._jobs)
        if not waiting:
            Event().wait(_WAIT)
            return []
        ready, _ = ray.wait(waiting, num_returns=1, timeout=_WAIT)
        if ready:  # what else is there, at once
            ready, _ = ray.wait(waiting, num_returns=len(waiting), timeout=0)
        return [self._take(one) for one in ready]

    def close(self) -> None:
        """Leave the cluster; running jobs end."""
        self._jobs.clear()
        ray.shutdown()

    def _take(self, reference: Any) -> Ended:
        job = self._jobs.pop(reference)
        try:
            return Ended(job, ray.get(reference))
        except RayError as err:
            return Ended(
                job,
                None,
                f"{type(err).__name__}: its process or node is gone, or it took more "
                f"than {job['time_limit']:g} s",
            )
