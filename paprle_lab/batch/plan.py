"""Plan of a batch: a YAML of axes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le, Len, Unit, doc

from paprle.config.yaml_text import read_yaml
from paprle.contracts.errors import ConfigError
from paprle.contracts.settings.base import settings
from paprle.contracts.validation.check import validate
from paprle.contracts.validation.places import Layer, Places
from paprle_lab.batch.sources import is_address, list_files

Work = Literal["session", "evaluate", "dataset"]
AXES = ("leaders", "robots", "worlds", "networks", "variants")
_KEYS = {"leaders": "leader", "robots": "follower", "worlds": "env"}
_OURS = ("session.clock", "session.episodes", "record.dir", "link.seed")
_FILES = {".csv", ".txt", ".npz", ".mcap", ".db3", ".bag", ".tum"}
NOBODY = "none"
"""Name of a network that is not there."""


@settings
class Choice:
    """One entry of an axis."""

    name: Annotated[str, doc("What the table calls it.")]
    settings: Annotated[tuple[str, ...], doc("key=value, as `paprle run` takes.")]


@settings
class BatchPlan:
    """Plan of a batch; each combination is a cell."""

    work: Annotated[
        Work,
        doc(
            "session: drive robots, measure the recordings; evaluate: measure "
            "recordings; dataset: make data sets of recordings."
        ),
    ] = "session"
    leaders: Annotated[
        tuple[Choice, ...], doc("session: leaders, or files and patterns of files.")
    ] = ()
    robots: Annotated[tuple[Choice, ...], doc("session: followers.")] = ()
    worlds: Annotated[tuple[Choice, ...], doc("session: envs.")] = (
        Choice(name="kinematic", settings=("env=kinematic",)),
    )
    networks: Annotated[
        tuple[Choice, ...], doc("session: networks that are played; none: none.")
    ] = (Choice(name=NOBODY, settings=()),)
    variants: Annotated[tuple[Choice, ...], doc("session: whatever else differs.")] = (
        Choice(name="", settings=()),
    )
    seeds: Annotated[
        tuple[Annotated[int, Ge(0), Le(2**31 - 1)], ...],
        Len(1),
        doc("session: of the network, and of what the world draws; or how many."),
    ] = (0,)
    episodes: Annotated[
        tuple[str, ...],
        doc("evaluate, dataset: recordings; of dataset, a data set an entry."),
    ] = ()
    formats: Annotated[
        tuple[Literal["lerobot", "hdf5"], ...], Len(1), doc("dataset: of data sets.")
    ] = ("lerobot",)
    settings: Annotated[tuple[str, ...], doc("session: key=value of all cells.")] = ()
    keep: Annotated[
        Literal["nothing", "recordings"], doc("session: what is kept beside the table.")
    ] = "nothing"
    retries: Annotated[
        int, Ge(0), Le(100), doc("How often a cell is tried again that failed.")
    ] = 2
    time_limit: Annotated[
        float,
        Unit("s"),
        Gt(0.0),
        Le(1e6),
        doc("A cell that takes longer is ended, with all its threads."),
    ] = 3600.0
    folder: Annotated[str, doc("Where paths begin; the plan's own folder.")] = "."


def read_plan(path: Path) -> BatchPlan:
    """Return the plan of a YAML; paths are relative to it.

    Raises:
        ConfigError: Listing all mistakes.
    """
    problems: list[str] = []
    data = read_yaml(path, str(path), problems)
    if data is None:
        raise ConfigError(problems)
    return make_plan(data, path.resolve().parent, str(path))


def make_plan(data: Mapping[str, Any], folder: Path, label: str) -> BatchPlan:
    """Return a plan of YAML values.

    Raises:
        ConfigError: Listing all mistakes.
    """
    problems: list[str] = []
    given = {**data, "folder": str(folder)}
    for axis in AXES:
        if axis in given:
            given[axis] = _name_all(axis, given[axis], folder, problems)
    if isinstance(given.get("seeds"), int):
        given["seeds"] = list(range(given["seeds"]))
    if isinstance(given.get("episodes"), list):
        given["episodes"] = [_place(str(one), folder) for one in given["episodes"]]
    places = Places([Layer(label, {"plan": dict(given)})])
    plan = validate(BatchPlan, given, "plan", places, problems)
    if plan is None or problems:
        raise ConfigError(problems)
    problems = [f"{problem} ({label})" for problem in _find_problems(plan)]
    if problems:
        raise ConfigError(problems)
    return plan


def _name_all(axis: str, entries: Any, folder: Path, problems: list[str]) -> Any:
    if not isinstance(entries, list):
        return entries
    made: list[Any] = []
    for entry in entries:
        if isinstance(entry, dict) and len(entry) == 1:
            ((name, words),) = entry.items()
            if isinstance(words, list):
                words = [_find_file(str(word), folder) for word in words]
            made.append({"name": str(name), "settings": words})
        elif isinstance(entry, str):
            made += _read_entry(axis, entry, folder, problems)
        else:
            problems.append(
                f"plan.{axis}: expected a name, a file, or 'name: [key=value, …]', "
                f"got {entry!r}"
            )
    return made


def _read_entry(
    axis: str, text: str, folder: Path, problems: list[str]
) -> list[dict[str, Any]]:
    is_file = "/" in text or "*" in text or Path(text).suffix in {*_FILES, ".yaml"}
    if axis == "leaders" and is_file and not text.endswith(".yaml"):
        found = list_files(_place(text, folder))
        if not found:
            problems.append(f"plan.leaders: expected a file, got '{text}'; none there")
        return [
            {
                "name": _name_file(one, folder),
                "settings": ["leader=offline", f"leader.path={one}"],
            }
            for one in found
        ]
    if axis == "variants":
        problems.append(f"plan.variants: expected 'name: [key=value, …]', got '{text}'")
    value = _place(text, folder) if is_file else text
    if axis == "networks":
        words = [] if text == NOBODY else [f"link.emulate={value}"]
    else:
        words = [f"{_KEYS.get(axis, axis)}={value}"]
    return [{"name": text, "settings": words}]


def _find_file(word: str, folder: Path) -> str:
    key, _, value = word.partition("=")
    if is_address(value):
        return word
    is_path = "." in value or "/" in value
    path = _place(value, folder)
    return f"{key}={path}" if is_path and Path(path).is_file() else word


def _place(text: str, folder: Path) -> str:
    if is_address(text):
        return text
    return os.path.normpath(folder / Path(text).expanduser())


def _name_file(path: str, folder: Path) -> str:
    is_ours = not is_address(path) and Path(path).is_relative_to(folder)
    return str(Path(path).relative_to(folder)) if is_ours else path


def _find_problems(plan: BatchPlan) -> Iterator[str]:
    is_session = plan.work == "session"
    if is_session and not (plan.leaders and plan.robots):
        yield "plan: expected leaders and robots for sessions, got none"
    if is_session == bool(plan.episodes):
        expected = "none" if is_session else "some"
        yield f"plan.episodes: expected {expected} for work '{plan.work}'"
    for axis in AXES:
        choices: Sequence[Choice] = getattr(plan, axis)
        names = [one.name for one in choices]
        if not choices and axis not in {"leaders", "robots"}:
            yield f"plan.{axis}: expected at least one, got none"
        yield from (
            f"plan.{axis}: expected names that differ, got '{name}' twice"
            for name in dict.fromkeys(names)
            if names.count(name) > 1
        )
    words = [
        word for axis in AXES for one in getattr(plan, axis) for word in one.settings
    ]
    for word in (*plan.settings, *words):
        key = word.partition("=")[0]
        if "=" not in word:
            yield f"plan: expected key=value, got '{word}'"
        if key in _OURS:
            yield f"plan: '{key}' is set by the batch itself; leave it out"
    if len(set(plan.seeds)) < len(plan.seeds):
        yield "plan.seeds: expected numbers that differ"
