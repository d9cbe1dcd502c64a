"""The page of the architecture names every sub-package and verb."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from paprle.contracts.kinds import PLUGIN_FOLDERS
from paprle_lab.cli import VERBS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/architecture.md").read_text()
APART = {"hardware", *PLUGIN_FOLDERS}
"""Folders at the top, linked into ``paprle``."""


def find_packages(root, depth):
    """Return the sub-packages of a package, down to a depth, without links."""
    if not depth:
        return []
    own = [p.parent for p in sorted(root.glob("*/__init__.py"))]
    own = [p for p in own if not p.is_symlink()]
    return [*own, *(below for p in own for below in find_packages(p, depth - 1))]


PACKAGES = [
    *find_packages(ROOT / "paprle", 2),
    *find_packages(ROOT / "paprle_lab", 2),
    *find_packages(ROOT / "paprle_emulators", 1),
    *find_packages(ROOT / "observers/view", 1),
]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_page_has_a_row_for_each_sub_package(package):
    assert re.search(rf"`([\w/]+/)?{package.name}/`", PAGE)


@pytest.mark.parametrize("folder", sorted(APART))
def test_the_page_has_a_row_for_each_folder_of_plug_ins(folder):
    assert f"`{folder}/`" in PAGE


def test_the_page_lists_each_verb_of_the_lab():
    (row,) = (line for line in PAGE.splitlines() if line.startswith("| `cli/` |"))

    assert set(re.findall(r"`([\w-]+)`", row.split("|")[2])) == set(VERBS)
