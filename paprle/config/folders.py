"""Folders and files of leader, follower and env YAMLs.

Later wins: ``configs``, the site's folder, ``PAPRLE_CONFIG_PATH``, its first last.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from paprle.ipc.process import WORKSPACE
from paprle.plugins import is_name

VARIABLE = "PAPRLE_CONFIG_PATH"
SESSION = "session.yaml"
"""Settings of every session, in a site's folder or one of ``PAPRLE_CONFIG_PATH``."""

YAML_ENDS, URDF_END = (".yaml", ".yml"), ".urdf"

_PACKED = Path(__file__).resolve().parents[1] / "data"
"""Configs and URDFs in an installed package; in a checkout they stand beside it."""

IS_PACKED = _PACKED.is_dir()
DATA = _PACKED if IS_PACKED else WORKSPACE
"""Holds ``configs`` and ``urdf``; what paths in them are relative to."""


@dataclass(frozen=True)
class Folder:
    """Folder of YAMLs, and its label in messages."""

    path: Path
    label: str


@dataclass(frozen=True)
class Folders:
    """All sources of YAMLs."""

    root: Path
    folders: tuple[Folder, ...]
    files: Mapping[str, Path] = field(default_factory=dict)

    def with_files(self, files: Mapping[str, Path]) -> Folders:
        """Return the same folders with single files."""
        return replace(self, files=files)

    def list_names(self, part: str) -> set[str]:
        """Return the names that have a YAML."""
        found = {file.stem for file in self.list_all(part) if is_name(file.stem)}
        return found | {self.files[part].stem} if part in self.files else found

    def list_all(self, part: str) -> list[Path]:
        """Return all YAMLs of a part."""
        files = [p for f in self.folders for p in (f.path / part).glob("*.yaml")]
        return sorted(files)

    def list_yamls(self, names: Mapping[str, str]) -> Iterator[tuple[str, str, Path]]:
        """Yield part, label and path of a triple's YAMLs, the strongest last."""
        for part, name in names.items():
            if self._is_file(part, name):
                yield part, str(self.files[part]), self.files[part]
        for folder in self.folders:
            for part, name in names.items():
                path = folder.path / part / f"{name}.yaml"
                if is_name(name) and not self._is_file(part, name) and path.is_file():
                    yield part, f"{folder.label}/{part}/{name}.yaml", path

    def _is_file(self, part: str, name: str) -> bool:
        return part in self.files and self.files[part].stem == name

    def list_sessions(self) -> Iterator[tuple[str, Path]]:
        """Yield label and path of ``session.yaml`` files; the last wins."""
        for folder in self.folders[1:]:
            if (folder.path / SESSION).is_file():
                yield f"{folder.label}/{SESSION}", folder.path / SESSION


def expand_home(text: str) -> Path:
    """Return a path with a known user's ``~`` expanded."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)


def find_site(root: Path | None = None) -> Folder:
    """Return the site's folder; it may not exist."""
    if root is None and IS_PACKED:
        home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        return Folder(home / "paprle", str(home / "paprle"))
    return Folder((root or DATA) / "configs/site", "configs/site")


def find_folders(root: Path | None = None) -> Folders:
    """Return the YAML folders of a workspace."""
    given = [word for word in os.environ.get(VARIABLE, "").split(os.pathsep) if word]
    paths = [expand_home(word).resolve() for word in reversed(given)]
    place = (root or DATA).resolve()
    return Folders(
        place,
        (
            Folder(place / "configs", "configs"),
            find_site(None if root is None else place),
            *(Folder(path, str(path)) for path in paths),
        ),
    )


def is_path(name: str) -> bool:
    """Return whether a name is a file path."""
    return Path(name).suffix in (*YAML_ENDS, URDF_END)


def take_files(
    names: Mapping[str, str], problems: list[str]
) -> tuple[dict[str, str], dict[str, Path]]:
    """Return names and files of a triple given by path."""
    plain, files = dict(names), {}
    for part, text in names.items():
        if not is_path(text):
            continue
        path = expand_home(text).absolute()
        if path.suffix not in YAML_ENDS or not path.is_file():
            got = "none there" if path.suffix in YAML_ENDS else f"'{path.suffix}'"
            problems.append(f"{part}: expected a YAML file at '{path}', got {got}")
            continue
        plain[part], files[part] = path.stem, path
    return plain, files
