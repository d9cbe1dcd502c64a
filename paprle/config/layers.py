"""Layers of a config; later wins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from paprle.config.yaml_text import parse_value
from paprle.contracts.errors import suggest
from paprle.contracts.validation.places import (
    COMMAND_LINE,
    Key,
    Layer,
    Places,
    Tree,
    look_up,
    put,
    walk_tree,
)

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

_INTERPOLATION = re.compile(r"\$\{([^}]*)\}")


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
    keys = [key for key, value in walk_tree(tree) if "${" in str(value)]
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
