"""YAML files of the site's folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from paprle.config.folders import Folder
from paprle.config.layers import merge
from paprle.config.yaml_text import read_yaml
from paprle.contracts.errors import ConfigError


def merge_into(site: Folder, name: str, values: Mapping[str, Any]) -> Path:
    """Return the file into which settings were merged.

    Raises:
        ConfigError: If the file is damaged; it is kept.
    """
    path, problems = site.path / name, list[str]()
    old = {}
    if path.is_file():
        old = read_yaml(path, f"{site.label}/{name}", problems) or {}
    if problems:
        raise ConfigError(problems)
    new = merge([old, dict(values)])
    replace_text(path, yaml.safe_dump(new, sort_keys=False, allow_unicode=True))
    return path


def replace_text(path: Path, text: str) -> None:
    """Write a file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, "utf-8")
    beside.replace(path)
