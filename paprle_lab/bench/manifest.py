"""Manifest of a benchmark."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Len, doc

from paprle.config.yaml_text import read_yaml
from paprle.contracts.errors import ConfigError
from paprle.contracts.settings.base import settings
from paprle.contracts.validation.check import validate
from paprle.contracts.validation.places import Layer, Places
from paprle_lab.batch.plan import BatchPlan, make_plan
from paprle_lab.batch.sources import hash_file

STANDARD = Path(__file__).with_name("standard.yaml")
"""Motions that need no file: whoever has this version has them."""


@settings
class BenchMotion:
    """One motion of a benchmark."""

    name: Annotated[str, Len(1), doc("What the scores call it.")]
    path: Annotated[
        str | None, doc("Its file, beside the manifest; absent: none is needed.")
    ] = None
    sha256: Annotated[str | None, doc("Of the file.")] = None
    source: Annotated[str, doc("Where it is published, under which licence.")] = ""
    settings: Annotated[tuple[str, ...], doc("key=value of the leader.")] = ()


@settings
class Manifest:
    """Motions, robots, worlds, networks and seeds of a benchmark."""

    name: Annotated[str, Len(1), doc("Of the benchmark.")]
    motions: Annotated[tuple[BenchMotion, ...], Len(1), doc("What is played.")]
    plan: Annotated[
        Mapping[str, Any],
        doc("robots, worlds, networks, seeds and settings, as a plan has them."),
    ] = field(default_factory=dict)


@dataclass(frozen=True)
class Bench:
    """A runnable benchmark; ``digest``: SHA-256 of the manifest's text."""

    manifest: Manifest
    plan: BatchPlan
    digest: str


def read_bench(path: Path) -> Bench:
    """Return the benchmark of a manifest.

    Raises:
        ConfigError: Listing all mistakes and wrong files.
    """
    label = "standard.yaml" if path == STANDARD else str(path)
    problems: list[str] = []
    data = read_yaml(path, label, problems)
    places = Places([Layer(label, {"bench": data or {}})])
    manifest = validate(Manifest, data or {}, "bench", places, problems)
    if manifest is None or problems:
        raise ConfigError(problems)
    folder = path.resolve().parent
    problems = list(_find_problems(manifest, folder))
    if problems:
        raise ConfigError(problems)
    leaders = [{one.name: _list_words(one, folder)} for one in manifest.motions]
    plan = make_plan({**manifest.plan, "leaders": leaders}, folder, label)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Bench(manifest, plan, digest)


def _list_words(motion: BenchMotion, folder: Path) -> list[str]:
    if motion.path is None:
        return list(motion.settings)
    path = folder / motion.path
    return ["leader=offline", f"leader.path={path}", *motion.settings]


def _find_problems(manifest: Manifest, folder: Path) -> Iterator[str]:
    for motion in manifest.motions:
        if motion.path is None:
            continue
        where = f"motion '{motion.name}'"
        file = folder / motion.path
        source = f"; it is published at {motion.source}" if motion.source else ""
        if motion.sha256 is None:
            yield f"{where}: expected sha256 of '{motion.path}', got none"
        elif not file.is_file():
            yield f"{where}: expected the file '{file}', got none{source}"
        elif (found := hash_file(str(file))) != motion.sha256:
            yield (
                f"{where}: expected '{file}' with SHA-256 {motion.sha256}, got "
                f"{found}{source}"
            )
