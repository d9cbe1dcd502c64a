"""Section ``leaders``, split into sections ``leaders.<name>``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paprle.config.files import known_names, pick_rig, read_files
from paprle.config.folders import Folders
from paprle.config.layers import GROUP
from paprle.contracts.errors import suggest
from paprle.contracts.kit.leader_group import ALONE
from paprle.contracts.validation.places import Layer, Places, Tree
from paprle.plugins import is_name

_EXAMPLE = "leaders.left.type=puppeteer_piper leaders.left.rate=400"


@dataclass
class Group:
    """Leaders of a config, with YAML and plug-in by leader."""

    layers: list[Layer]
    yamls: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)


def name_section(leader: str) -> str:
    """Return the section of a leader."""
    return "leader" if leader == ALONE else f"{GROUP}.{leader}"


def read_group(
    names: Mapping[str, str],
    layers: Sequence[Layer],
    folders: Folders,
    problems: list[str],
) -> Group | None:
    """Return the leaders' group; None for an only leader."""
    is_group = [_is_group(layer.tree.get("leader")) for layer in layers]
    if not any(is_group):
        _refuse_names(names, layers, problems)
        return None
    for layer in layers:
        _split(layer, names["leader"], problems)
    prefix = f"{GROUP}."
    found = [s.removeprefix(prefix) for x in layers for s in x.tree if prefix in s]
    group = Group(list(layers))
    if not found:
        place = layers[is_group.index(True)].place
        problems.append(
            f"{GROUP}: expected one leader or more, got none ({place}); name them, for "
            f"example: {_EXAMPLE}"
        )
    for leader in dict.fromkeys(found):
        _read_leader(group, leader, names, folders, problems)
    return group


def _is_group(tree: Any) -> bool:
    return isinstance(tree, dict) and GROUP in tree


def _refuse_names(
    names: Mapping[str, str], layers: Sequence[Layer], problems: list[str]
) -> None:
    for layer in layers:
        if layer.tree.pop(GROUP, None) is not None:
            problems.append(
                f"{GROUP}: expected leader=mix, got leader={names.get('leader', '')} "
                f"({layer.place}); settings of an only leader are those of 'leader'"
            )


def _split(layer: Layer, name: str, problems: list[str]) -> None:
    tree = layer.tree
    own = tree.pop("leader", None)
    parts = [tree.pop(GROUP, {})]
    if _is_group(own):
        parts.append(own.pop(GROUP) or {})
    for key in sorted(set(own or ()) - {"belongs_to", "type"}):
        problems.append(
            f"leader.{key}: expected {GROUP}.<name>.{key}, as leader '{name}' is "
            f"several ({layer.place})"
        )
    for part in parts:
        if not isinstance(part, dict):
            problems.append(
                f"{GROUP}: expected a mapping of names to leaders, got {part!r} "
                f"({layer.place})"
            )
            continue
        for leader, values in part.items():
            _take(tree, str(leader), values, layer.place, problems)


def _take(
    tree: Tree, leader: str, values: Any, place: str, problems: list[str]
) -> None:
    key = f"{GROUP}.{leader}"
    if not is_name(leader):
        problems.append(
            f"{key}: expected a name of small letters, digits and _, got {leader!r} "
            f"({place})"
        )
    elif not isinstance(values, dict):
        problems.append(
            f"{key}: expected a mapping of keys to values, got {values!r} ({place}); "
            f"for example: {_EXAMPLE}"
        )
    else:
        tree[key] = dict(values)


def _read_leader(
    group: Group,
    leader: str,
    names: Mapping[str, str],
    folders: Folders,
    problems: list[str],
) -> None:
    key = name_section(leader)
    place = Places(group.layers).of((key, "type"))
    asked = _pop_last(group.layers, key, "type")
    known = known_names("leader", folders)
    if not isinstance(asked, str) or asked not in known:
        tail = suggest(str(asked), known, "leaders")
        got = "none" if asked is None else repr(asked)
        problems.append(
            f"{key}.type: expected a leader's name, got {got} ({place}); {tail}"
        )
        return
    own: list[str] = []
    yaml = pick_rig({**names, "leader": asked}, folders, own)["leader"]
    problems += [f"{key}.type: {text.removeprefix('leader: ')}" for text in own]
    found, unread = read_files({"leader": yaml}, folders, problems)
    if unread & {"leader"} or own:
        return
    trees = [layer for layer in found if "leader" in layer.tree]
    if any(GROUP in layer.tree["leader"] for layer in trees):
        problems.append(
            f"{key}.type: expected one leader, got '{asked}', which is several "
            f"({place})"
        )
        return
    beneath = [Layer(layer.place, {key: layer.tree["leader"]}) for layer in trees]
    for layer in beneath:
        layer.tree[key].pop("belongs_to", None)
    group.types[leader] = str(_pop_last(beneath, key, "type") or yaml)
    group.yamls[leader] = yaml
    group.layers[:0] = beneath


def _pop_last(layers: Sequence[Layer], section: str, key: str) -> Any:
    last = None
    for layer in layers:
        if isinstance(layer.tree.get(section), dict):
            last = layer.tree[section].pop(key, last)
    return last
