"""Engines, imported on demand."""

from __future__ import annotations

from importlib import import_module

from paprle.contracts.errors import ConfigError, MissingDependency
from paprle_lab.batch.engine import Engine


def make_engine(asked: str) -> Engine:
    """Return an engine: ``local``, ``local:N``, ``ray`` or ``ray:ADDRESS``.

    Raises:
        ConfigError: If the name is unknown.
        MissingDependency: Without Ray.
    """
    name, _, what = asked.partition(":")
    if name == "local":
        pool = import_module("paprle_lab.batch.pool")
        if what and not (what.isdecimal() and 0 < int(what) <= pool.MOST):
            raise ConfigError(
                f"--on: expected local:N with N of 1 … {pool.MOST}, got '{asked}'"
            )
        made: Engine = pool.Pool(int(what) if what else pool.count_cores())
        return made
    if name == "ray":
        try:
            cluster = import_module("paprle_lab.batch.cluster")
        except ImportError as err:
            raise MissingDependency(
                "--on ray: expected the package 'ray', got none; install it with: "
                "pip install 'paprle[ray]'"
            ) from err
        made = cluster.Cluster(what)
        return made
    raise ConfigError(f"--on: expected local or ray, got '{asked}'")
