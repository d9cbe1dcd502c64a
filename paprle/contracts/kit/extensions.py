"""Entry points that extend the command line and the library."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

from paprle.contracts.errors import MissingDependency


def load_verbs() -> dict[str, Mapping[str, tuple[str, str]]]:
    """Return the tables of verbs, by package."""
    found = entry_points(group="paprle.verbs")
    return {entry.module: entry.load() for entry in found}


def load_extension(group: str, name: str, purpose: str) -> Any:
    """Return an entry point's object; raise MissingDependency without one."""
    for entry in entry_points(group=group, name=name):
        return entry.load()
    raise MissingDependency(
        f"{purpose}: expected the package paprle_lab, got none; "
        "reinstall it with: pip install --force-reinstall paprle"
    )
