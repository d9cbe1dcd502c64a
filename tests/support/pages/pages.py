"""Installs the example of a page ``docs/adding_….md`` as pip would."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[3]
_BLOCK = re.compile(r"```(python|toml)\n(.*?)```", re.DOTALL)
_ENTRY = re.compile(
    r'\[project\.entry-points\."(?P<group>[\w.]+)"\]\n'
    r'(?P<name>\w+) = "(?P<module>\w+):(?P<attribute>\w+)"'
)


class Example(NamedTuple):
    """What a page shows: a module, its entry point, its tests."""

    code: str
    tests: str
    group: str
    name: str
    module: str
    attribute: str


def read_page(page: str) -> Example:
    """Return the example of ``docs/<page>.md``: code, entry point, tests, in order."""
    text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
    (_, code), (_, toml), (_, tests) = _BLOCK.findall(text)
    entry = _ENTRY.search(toml)
    assert entry, toml
    return Example(code, tests, **entry.groupdict())


def install(page: str, folder: Path) -> Path:
    """Write the page's code, its tests and its entry point; return the folder.

    Put it on the import path, or on PYTHONPATH of a process.
    """
    example = read_page(page)
    (folder / f"{example.module}.py").write_text(example.code)
    (folder / f"test_{example.name}.py").write_text(example.tests)
    info = folder / f"{example.module}-1.0.dist-info"
    info.mkdir()
    name = example.module.replace("_", "-")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\n")
    entry = f"{example.name} = {example.module}:{example.attribute}"
    (info / "entry_points.txt").write_text(f"[{example.group}]\n{entry}\n")
    return folder
