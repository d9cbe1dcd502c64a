"""Layers of a config; later wins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paprle.config.yaml_text import parse_value
from paprle.contracts.errors import suggest

COMMAND_LINE = "command line"
DEFAULT = "default"
TRIPLE = ("leader", "follower", "env")
CORE = (
    "retarget",
    "ik",
    "gate",
    "session",
    "feedback",
    "record",
    "observers",
    "advisors",
    "cameras",
    "link",
)
GROUP = "leaders"
"""Section of several leaders by name, where ``leader`` names a group of them."""

SECTIONS = (*TRIPLE, GROUP, *CORE)

_SHORT = {"console=on": "observers.view={}", "console=off": "session.view=false"}
"""Words of the command line that stand for others."""

Key = tuple[str, ...]
Tree = dict[str, Any]

_INTERPOLATION = re.compile(r"\$\{([^}]*)\}")


@dataclass(frozen=True)
class Layer:
    """Values of one source, by section.

    Attributes:
        place: File relative to the workspace, ``command line`` or ``default``.
    """

    place: str
    tree: Tree


@dataclass(frozen=True)
class CommandLine:
    """Settings of the command line; ``texts`` are as typed."""

    names: Mapping[str, str]
    layer: Layer
    texts: Mapping[Key, str]


def read_command_line(args: Sequence[str], problems: list[str]) -> CommandLine:
    """Read ``leader=… follower=… env=… key=value …``; the last wins."""
    names: dict[str, str] = {}
    tree: Tree = {}
    texts: dict[Key, str] = {}
    for word in args:
        arg = _SHORT.get(word, word)
        name, equals, text = arg.partition("=")
        key = tuple(name.split("."))
        if not equals or not all(key):
            problems.append(f"{COMMAND_LINE}: expected key=value, got {arg!r}")
        elif name in TRIPLE:
            names[name] = text
        elif key[0] not in SECTIONS or (len(key) == 1 and name != GROUP):
            tail = suggest(key[0], SECTIONS, "sections")
            problems.append(f"{name}: unknown key ({COMMAND_LINE}); {tail}")
        else:
            n_before = len(problems)
            value = parse_value(text, f"{name} ({COMMAND_LINE})", problems)
            if len(problems) == n_before:
                put(tree, key, value)
                texts[_find_section(key)] = text
    return CommandLine(names, Layer(COMMAND_LINE, tree), texts)


def _find_section(key: Key) -> Key:
    return (".".join(key[:2]), *key[2:]) if key[0] == GROUP else key


def put(tree: Tree, key: Key, value: Any) -> None:
    """Set one value, replacing non-mappings on its path."""
    *parents, last = key
    for part in parents:
        if not isinstance(tree.get(part), dict):
            tree[part] = {}
        tree = tree[part]
    tree[last] = value


def look_up(tree: Any, key: Key) -> tuple[bool, Any]:
    """Return whether the tree has this key, and its value."""
    for part in key:
        if not isinstance(tree, dict) or part not in tree:
            return False, None
        tree = tree[part]
    return True, tree


def merge(trees: Iterable[Tree]) -> Tree:
    """Return merged trees, sharing no mappings; later values win."""
    merged: Tree = {}
    for tree in trees:
        for name, value in tree.items():
            below = merged.get(name)
            parts = [part for part in (below, value) if isinstance(part, dict)]
            merged[name] = merge(parts) if isinstance(value, dict) else value
    return merged


def interpolate(tree: Tree, places: Places, problems: list[str]) -> Tree:
    """Return the merged tree with each ``${section.key}`` replaced.

    Targets are or hold plain values, which excludes cycles.
    """
    n_before = len(problems)
    few: Tree = {}  # OmegaConf takes longer for the whole tree than all the rest does
    keys = [key for key, value in _walk(tree) if "${" in str(value)]
    for key in keys:
        text = look_up(tree, key)[1]
        put(few, key, text)
        for target in _INTERPOLATION.findall(str(text)):
            is_there, value = look_up(tree, tuple(target.split(".")))
            if is_there and "${" not in str(value):
                put(few, tuple(target.split(".")), value)
                if text == f"${{{target}}}":  # a path in it is where that one is
                    places.follow(key, tuple(target.split(".")))
                continue
            got = "another interpolation" if is_there else "none"
            problems.append(
                f"{'.'.join(key)}: expected a value at '{target}', got {got} "
                f"({places.of(key)})"
            )
    if len(problems) > n_before or not keys:
        return tree
    from omegaconf import OmegaConf  # noqa: PLC0415 - slow to load, too
    from omegaconf.errors import OmegaConfBaseException  # noqa: PLC0415

    try:
        resolved = OmegaConf.to_container(OmegaConf.create(few), resolve=True)
    except OmegaConfBaseException as err:
        problems.append(f"interpolation: {str(err).splitlines()[0]}")
        return tree
    for key in keys:
        put(tree, key, look_up(resolved, key)[1])
    return tree


class Places:
    """Sources of the merged tree's keys."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        self._tree: Tree = {}
        self._files: dict[str, str] = {}
        for layer in layers:
            for key, value in _walk(layer.tree):
                adds_nothing = value == {} and isinstance(
                    look_up(self._tree, key)[1], dict
                )
                if not adds_nothing:
                    put(self._tree, key, layer.place)
            for section in layer.tree:
                if layer.place != DEFAULT:
                    self._files.setdefault(section, layer.place)

    def of(self, key: Sequence[str | int]) -> str:
        """Return the source of a key, its parent or section."""
        node: Any = self._tree
        for part in key:
            if not isinstance(node, dict) or str(part) not in node:
                break
            node = node[str(part)]
        else:
            below = [place for _, place in _walk(node) if isinstance(place, str)]
            if below:
                return below[-1]
        if isinstance(node, str):
            return node
        return self._files.get(str(key[0]), COMMAND_LINE)

    def follow(self, key: Key, target: Key) -> None:
        """Copy the sources of an interpolated key."""
        is_there, found = look_up(self._tree, target)
        if is_there:
            put(self._tree, key, found)

    def as_dict(self) -> dict[str, str]:
        """Return sources by dotted key."""
        return {".".join(key): place for key, place in _walk(self._tree) if key}


def _walk(tree: Any, key: Key = ()) -> Iterator[tuple[Key, Any]]:
    if isinstance(tree, dict) and (tree or not key):
        for name, value in tree.items():
            yield from _walk(value, (*key, name))
    elif isinstance(tree, list) and any("${" in str(item) for item in tree):
        yield key, str(tree)
    else:
        yield key, tree
