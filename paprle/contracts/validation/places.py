"""Trees of values, and the source of each value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

COMMAND_LINE = "command line"
DEFAULT = "default"

Key = tuple[str, ...]
Tree = dict[str, Any]


@dataclass(frozen=True)
class Layer:
    """Values of one source, by section.

    Attributes:
        place: File relative to the workspace, ``command line`` or ``default``.
    """

    place: str
    tree: Tree


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


class Places:
    """Sources of the merged tree's keys."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        self._tree: Tree = {}
        self._files: dict[str, str] = {}
        for layer in layers:
            for key, value in walk_tree(layer.tree):
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
            below = [place for _, place in walk_tree(node) if isinstance(place, str)]
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
        return {".".join(key): place for key, place in walk_tree(self._tree) if key}


def walk_tree(tree: Any, key: Key = ()) -> Iterator[tuple[Key, Any]]:
    """Yield the keys and values of a tree's leaves."""
    if isinstance(tree, dict) and (tree or not key):
        for name, value in tree.items():
            yield from walk_tree(value, (*key, name))
    elif isinstance(tree, list) and any("${" in str(item) for item in tree):
        yield key, str(tree)
    else:
        yield key, tree
