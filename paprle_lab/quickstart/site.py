"""Last ports and calibrations in the site's settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from paprle.config.folders import Folder, find_site
from paprle.config.layers import merge
from paprle.config.yaml_text import read_yaml
from paprle.contracts.errors import ConfigError
from paprle_lab.quickstart.rig import REAL, ROBOT, Arm, Rig

_LEADER, _FOLLOWER = f"leader/{ROBOT}.yaml", f"follower/{ROBOT}.yaml"


def read_last(site: Folder | None = None) -> Rig:
    """Return the stored arms.

    Raises:
        ConfigError: If a file is damaged.
    """
    site = site or find_site()
    leader = _enter(_read(site, _LEADER), ("limbs", "arm"))
    follower = _enter(_read(site, _FOLLOWER), ("envs", REAL))
    return Rig(leader=_make(leader), follower=_make(follower))


def store(rig: Rig, site: Folder | None = None) -> list[Path]:
    """Return the files written with a rig's real arms.

    Raises:
        ConfigError: If a file is damaged.
    """
    site = site or find_site()
    written = []
    for name, tree in _list_trees(rig):
        path = site.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        new = merge([_read(site, name), tree])
        path.write_text(yaml.safe_dump(new, sort_keys=False), "utf-8")
        written.append(path)
    return written


def _list_trees(rig: Rig) -> Iterator[tuple[str, dict[str, Any]]]:
    if rig.leader is not None and not rig.leader.is_emulated:
        yield _LEADER, {"limbs": {"arm": _describe(rig.leader)}}
    if rig.follower is not None and not rig.follower.is_emulated:
        yield _FOLLOWER, {"envs": {REAL: _describe(rig.follower)}}


def _describe(arm: Arm) -> dict[str, str]:
    return {"port": arm.port, "calibration": arm.calibration}


def _make(values: Mapping[str, Any]) -> Arm | None:
    port = values.get("port")
    if not port:
        return None
    return Arm(port=str(port), calibration=str(values.get("calibration") or ""))


def _read(site: Folder, name: str) -> dict[str, Any]:
    path, problems = site.path / name, list[str]()
    if not path.is_file():
        return {}
    tree = read_yaml(path, f"{site.label}/{name}", problems) or {}
    if problems:
        raise ConfigError(problems)
    return dict(tree)


def _enter(tree: Mapping[str, Any], keys: tuple[str, ...]) -> Mapping[str, Any]:
    for key in keys:
        found = tree.get(key)
        tree = found if isinstance(found, Mapping) else {}
    return tree
