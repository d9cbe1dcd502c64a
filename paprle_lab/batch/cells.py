"""Cells of a plan, and their digest."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path
from typing import Any

from paprle.config import resolve
from paprle.contracts.errors import ConfigError
from paprle.recording.header import find_git_rev
from paprle_lab.batch.plan import NOBODY, BatchPlan, Choice
from paprle_lab.batch.sources import hash_file, is_address, list_files, list_recordings

Json = dict[str, Any]

_PACKAGES = ("paprle", "numpy", "numba", "pin", "scipy", "daqp", "mujoco")
"""Those whose version may change the last bit."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One unit of work; ``files``: hash by path."""

    index: int
    work: str
    leader: str = ""
    robot: str = ""
    world: str = ""
    network: str = NOBODY
    variant: str = ""
    seed: int = 0
    words: tuple[str, ...] = ()
    form: str = ""
    keeps: bool = False
    files: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> Json:
        """Return JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Cell:
        """Return the cell of ``to_dict``."""
        given = {one.name: data[one.name] for one in fields(cls)}
        return cls(**given | {"words": tuple(given["words"])})


class Cells:
    """Cells of a plan, made on iteration."""

    def __init__(self, plan: BatchPlan) -> None:
        """Count the cells.

        Raises:
            ConfigError: For unknown worlds or useless seeds.
        """
        self._plan = plan
        self._sources = _list_sources(plan)
        if plan.work == "session":
            self._is_random = _find_random(plan)
            axes = (plan.leaders, plan.robots, plan.worlds, plan.networks)
            self.n = len(plan.variants) * len(plan.seeds)
            for axis in axes:
                self.n *= len(axis)
        else:
            self.n = len(self._sources) * (
                len(plan.formats) if plan.work == "dataset" else 1
            )

    def __iter__(self) -> Iterator[Cell]:
        """Yield the cells; the last axis varies fastest."""
        plan = self._plan
        if plan.work == "session":
            yield from self._list_sessions()
            return
        forms = plan.formats if plan.work == "dataset" else ("",)
        for index, (source, form) in enumerate(product(self._sources, forms)):
            name = _shorten(source, plan.folder)
            files = _hash_all([source]) if plan.work == "evaluate" else {}
            yield Cell(
                index=index, work=plan.work, leader=name, words=(source,), form=form,
                files=files,
            )  # fmt: skip

    def _list_sessions(self) -> Iterator[Cell]:
        plan = self._plan
        axes = (plan.leaders, plan.robots, plan.worlds, plan.networks, plan.variants)
        for index, (*choices, seed) in enumerate(product(*axes, plan.seeds)):
            leader, robot, world, network, variant = choices
            seeds = [f"link.seed={seed}"] if network.settings else []
            if self._is_random[world.name]:
                seeds.append(f"env.randomise.seed={seed}")
            words = [word for one in choices for word in one.settings]
            yield Cell(
                index=index,
                work=plan.work,
                leader=leader.name,
                robot=robot.name,
                world=world.name,
                network=network.name,
                variant=variant.name,
                seed=seed,
                words=(*plan.settings, *words, *seeds),
                keeps=plan.keep == "recordings",
                files=_hash_all(_find_files(words)),
            )

    def compute_digest(self) -> str:
        """Return a digest of cells and versions."""
        digest = hashlib.sha256(json.dumps(find_versions()).encode())
        for cell in self:
            digest.update(json.dumps(cell.to_dict(), sort_keys=True).encode())
        return digest.hexdigest()


def _list_sources(plan: BatchPlan) -> list[str]:
    found: list[str] = []
    for pattern in plan.episodes:
        look = list_recordings if plan.work == "evaluate" else list_files
        there = look(pattern)
        if not there:
            raise ConfigError(
                f"plan.episodes: expected recordings, got '{pattern}'; there are none"
            )
        found += there
    return list(dict.fromkeys(found))


def _find_random(plan: BatchPlan) -> dict[str, bool]:
    first: tuple[Choice, ...] = (plan.leaders[0], plan.robots[0])
    words = [word for one in first for word in one.settings]
    is_random = {
        world.name: hasattr(
            resolve([*plan.settings, *words, *world.settings]).env, "randomise"
        )
        for world in plan.worlds
    }
    has_network = any(network.settings for network in plan.networks)
    if len(plan.seeds) > 1 and not has_network and not any(is_random.values()):
        raise ConfigError(
            f"plan.seeds: expected one, got {len(plan.seeds)}; neither a network nor "
            f"these worlds ({', '.join(is_random)}) draw anything at random"
        )
    return is_random


def _find_files(words: list[str]) -> list[str]:
    named = [(key, value) for key, _, value in (word.partition("=") for word in words)]
    return [
        value
        for key, value in named
        if (key.endswith(".path") if is_address(value) else _is_file(value))
    ]


def _is_file(value: str) -> bool:
    return "/" in value and Path(value).is_file()


def _hash_all(paths: list[str]) -> dict[str, str]:
    return {path: hash_file(path) for path in paths}


def _shorten(path: str, folder: str) -> str:
    return str(Path(path).relative_to(folder)) if path.startswith(folder) else path


@cache
def find_versions() -> dict[str, str | None]:
    """Return versions that may change results."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    found |= {"machine": platform.machine(), "revision": find_git_rev()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found
