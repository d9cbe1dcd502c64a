"""Data sets on the Hugging Face Hub, as LeRobot finds them there."""

from __future__ import annotations

import getpass
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import yaml  # type: ignore[import-untyped]

from paprle.contracts.errors import (
    ConfigError,
    DeviceError,
    MissingDependency,
    PaprleError,
    RecordingError,
)
from paprle.contracts.kit.work import UNSEEN, Work
from paprle_lab.dataset.formats.card import describe_privacy
from paprle_lab.dataset.formats.lerobot_tables import read_info, read_tasks
from paprle_lab.dataset.staging_folder import OWN

_KIND = "dataset"
_PARTS = ("README.md", "meta", "data", "videos", "images")
_TEXTS = {".json", ".md", ".txt", ".yaml", ".jsonl"}
_SHORTEST = 4  # chosen: a shorter name is a part of other words
_MOST_TASKS = 5  # chosen: a line of the terminal
_HEAD = re.compile(r"\A---\n(.*?)^---\n", re.DOTALL | re.MULTILINE)


class Publication(NamedTuple):
    """A pushed data set; sizes in bytes."""

    url: str
    n_files: int
    n_bytes: int


def list_private(root: Path) -> list[str]:
    """Return lines on what a set shows of people and places.

    Raises:
        RecordingError: If it is no LeRobot data set.
    """
    info = read_info(root)
    lines = list(describe_privacy(list_cameras(info)))
    tasks = list(read_tasks(root).values())
    more = "" if len(tasks) <= _MOST_TASKS else f" and {len(tasks) - _MOST_TASKS} more"
    told = ", ".join(repr(one[:60]) for one in tasks[:_MOST_TASKS])
    lines.append(f"Tasks: {told or 'none'}{more}.")
    for word in _list_names():
        found = [
            str(path.relative_to(root))
            for path in _list_files(root)
            if path.suffix in _TEXTS and word in path.read_text("utf-8", "replace")
        ]
        lines += [f"'{word}', of this machine, is in {', '.join(found)}."] * bool(found)
    if (root / "meta" / OWN).is_file():
        lines.append(f"Names of the recordings' files are in meta/{OWN}.")
    return lines


def list_cameras(info: Mapping[str, Any]) -> list[str]:
    """Return the names of a data set's cameras."""
    return [
        name.removeprefix("observation.images.")
        for name, feature in info["features"].items()
        if feature["dtype"] in {"video", "image"}
    ]


def push(
    root: Path,
    repo: str,
    *,
    license_id: str = "",
    is_public: bool = False,
    work: Work = UNSEEN,
) -> Publication:
    """Upload a LeRobot data set with its card, and tag its version.

    Files that are there and not in the set are removed; the repository keeps its
    history. A stopped upload is continued.

    Returns:
        The address and the size.

    Raises:
        ConfigError: If the name, the token or a missing licence forbids it.
        RecordingError: If it is no LeRobot data set.
        DeviceError: If the Hub cannot be reached.
        MissingDependency: If ``huggingface_hub`` is not installed.
    """
    info = read_info(root)
    hub = _load_hub()
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repo):
        raise ConfigError(f"dataset push: expected USER/NAME, got '{repo}'")
    list(_list_files(root))  # no link leads out, or the card could be such a file
    _write_card(root, info, license_id, is_public=is_public)
    files = sorted(_list_files(root))
    sizes = [path.stat().st_size for path in files]
    api = hub.HfApi()
    hub.utils.disable_progress_bars()
    with _reported(hub, repo):
        url = api.create_repo(
            repo, repo_type=_KIND, private=not is_public, exist_ok=True
        )
        is_private = bool(api.repo_info(repo, repo_type=_KIND).private)
    if is_private is is_public:
        wanted, got = ("public", "private") if is_public else ("private", "public")
        remedy = "make it public there" if is_public else "say --public"
        raise ConfigError(
            f"dataset push: expected a {wanted} data set, got '{repo}', which is "
            f"{got}; {remedy}, or choose another name"
        )
    with _reported(hub, repo):
        additions = [
            hub.CommitOperationAdd(str(path.relative_to(root)), str(path))
            for path in files
        ]
        _upload(api, repo, additions, sizes, work)
        there = set(api.list_repo_files(repo, repo_type=_KIND))
        own = {one.path_in_repo for one in additions}
        gone = [name for name in there - own if name.split("/")[0] in _PARTS]
        work.note("committing")
        api.create_commit(
            repo,
            [*additions, *(hub.CommitOperationDelete(name) for name in gone)],
            commit_message=f"{info['total_episodes']} episodes",
            repo_type=_KIND,
        )
        version = str(info["codebase_version"])
        with suppress(hub.errors.RevisionNotFoundError):
            api.delete_tag(repo, tag=version, repo_type=_KIND)
        api.create_tag(repo, tag=version, repo_type=_KIND)
    return Publication(str(url), len(files), sum(sizes))


def _upload(api: Any, repo: str, additions: Any, sizes: list[int], work: Work) -> None:
    n_done, n_all = 0, sum(sizes)
    work.note("uploading")
    for addition, size in zip(additions, sizes, strict=True):
        api.preupload_lfs_files(repo, [addition], repo_type=_KIND, free_memory=False)
        n_done += size
        work.count(n_done * 1e-6, n_all * 1e-6, "MB")


def _write_card(
    root: Path, info: Mapping[str, Any], license_id: str, *, is_public: bool
) -> None:
    """Complete the metadata of ``README.md``."""
    path = root / "README.md"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    found = _HEAD.match(text)
    try:
        head = (yaml.safe_load(found[1]) or {}) if found else {}
        tags = [*head.get("tags", [])]
    except (yaml.YAMLError, AttributeError, TypeError) as err:
        raise ConfigError(f"{path}: expected metadata in YAML, got: {err}") from err
    if license_id:
        head["license"] = license_id
    if is_public and not head.get("license"):
        raise ConfigError(
            "dataset push: expected --license for a public data set, got none: without "
            "one nobody may use it; cc-by-4.0 and apache-2.0 are usual"
        )
    head.setdefault("task_categories", ["robotics"])
    head["tags"] = [*tags, *(["LeRobot"] if "LeRobot" not in tags else [])]
    body = text[found.end() :] if found else text
    if not body.strip():
        lines = [
            f"# {info.get('robot_type') or root.name}", "",
            f"{info['total_episodes']} episodes, {info['total_frames']} frames at "
            f"{info['fps']} Hz, LeRobotDataset {info['codebase_version']}.", "",
            *describe_privacy(list_cameras(info)),
        ]  # fmt: skip
        body = "\n" + "\n".join(lines) + "\n"
    front = yaml.safe_dump(head, sort_keys=False, allow_unicode=True)
    path.write_text(f"---\n{front}---\n{body}", encoding="utf-8")


def _list_files(root: Path) -> Iterator[Path]:
    for part in _PARTS:
        place = root / part
        for path in [place] if place.is_file() else place.rglob("*"):
            if path.is_file():
                if not path.resolve().is_relative_to(root.resolve()):
                    raise RecordingError(f"{path}: expected a file, got a link outside")
                yield path


def _list_names() -> list[str]:
    """Return names of this machine, of its user and home."""
    names = [str(Path.home()), socket.gethostname()]
    with suppress(Exception):  # a user without a name
        names.append(getpass.getuser())
    generic = {"localhost", "root", "user", "/root"}
    return [one for one in names if len(one) >= _SHORTEST and one not in generic]


def _load_hub() -> Any:
    if find_spec("huggingface_hub") is None:
        raise MissingDependency(
            "dataset push: expected the package 'huggingface_hub', got none; install "
            "it with: pip install 'paprle[hub]'"
        )
    import_module("huggingface_hub.errors")
    return import_module("huggingface_hub")


@contextmanager
def _reported(hub: Any, repo: str) -> Iterator[None]:
    try:
        yield
    except Exception as err:
        raise _make_error(hub, repo, err) from err


def _make_error(hub: Any, repo: str, err: Exception) -> PaprleError:
    status = getattr(getattr(err, "response", None), "status_code", None)
    if isinstance(err, hub.errors.LocalTokenNotFoundError) or status == 401:
        return ConfigError(
            f"dataset push: expected a token that may write '{repo}', got none that "
            "the Hub accepts; run: hf auth login, or set HF_TOKEN"
        )
    if status == 403:
        return ConfigError(
            f"dataset push: expected a token that may write '{repo}', got one that may "
            "not; choose another name, or a token with the right to write"
        )
    if isinstance(err, ValueError):
        return ConfigError(
            f"dataset push: expected a card that the Hub takes, got: {str(err)[:500]}"
        )
    return DeviceError(
        f"dataset push: expected to reach the Hub, got {type(err).__name__}: "
        f"{str(err)[:300]}; the same command goes on"
    )
