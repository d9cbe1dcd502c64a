"""Section ``env`` of a robot of several arms: each limb has an env.

A limb's settings override those of its env's and its robot's YAML.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from keyword import iskeyword
from typing import Annotated, Any

from annotated_types import doc

from paprle.config.emulated import read_emulated
from paprle.config.files import (
    PLUGIN_KINDS,
    check_pair,
    known_names,
    read_files,
    take_types,
    with_env,
)
from paprle.config.folders import Folders
from paprle.config.laws import make_class
from paprle.config.layers import merge
from paprle.contracts.errors import ConfigError, PaprleError, suggest
from paprle.contracts.plugins import PluginSpec
from paprle.contracts.settings.plugin import PartSettings
from paprle.contracts.validation.fields import read_defaults, read_fields
from paprle.contracts.validation.places import Layer, Places, Tree, look_up
from paprle.plugins import find_plugin, is_name, load_config_class

_EXAMPLE = "env.left='{robot: ur5e, env: ur}'"
_KIND = PLUGIN_KINDS["env"]


@dataclass(frozen=True)
class _Section:
    tree: Tree
    places: Places
    own: frozenset[str]

    def list_limbs(self) -> Iterator[tuple[str, Any]]:
        for limb, values in self.tree.items():
            if limb not in self.own:
                yield limb, values


def has_parts(env_type: str | None) -> bool:
    """Return whether each limb has its own env."""
    try:
        return env_type is not None and find_plugin(_KIND, env_type).has_parts
    except PaprleError:  # reported where its settings are looked for
        return False


def read_parts(
    names: Mapping[str, str],
    types: Mapping[str, str],
    layers: Sequence[Layer],
    folders: Folders,
    problems: list[str],
) -> list[Layer]:
    """Return the lowest layers, from the limbs' YAMLs."""
    section = _merge_section(names, types, layers)
    beneath: list[Layer] = []
    for limb, values in section.list_limbs():
        if _is_named(limb, values, section.places, problems):
            beneath += _read_part(limb, values, section, folders, problems)
    return beneath


def read_emulated_parts(
    names: Mapping[str, str],
    types: Mapping[str, str],
    layers: Sequence[Layer],
    problems: list[str],
) -> list[Layer]:
    """Return the settings of emulators of the limbs' envs.

    The last layer is the command line's.
    """
    section = _merge_section(names, types, layers)
    found: list[Layer] = []
    for limb, values in section.list_limbs():
        given = values if isinstance(values, dict) else {}
        part = {"env": str(given.get("env")), "follower": str(given.get("robot"))}
        typed = look_up(layers[-1].tree, ("env", limb))[1] or {}
        own: list[str] = []
        for layer in read_emulated(part, {"env": typed}, own):
            tree = {"env": {limb: layer.tree.get("env", {})}}
            found.append(Layer(layer.place, tree))
        problems += [f"env.{limb}.{text}" for text in own]
    return found


def _merge_section(
    names: Mapping[str, str], types: Mapping[str, str], layers: Sequence[Layer]
) -> _Section:
    env_type = types.get("env")
    if env_type is None or not has_parts(env_type):
        return _Section({}, Places([]), frozenset())
    above = [with_env(layer, names, types) for layer in layers]
    own = frozenset(read_fields(load_config_class(find_plugin(_KIND, env_type))))
    tree = merge(layer.tree for layer in above).get("env", {})
    return _Section(tree, Places(above), own)


def make_parts_class(
    config: Any, tree: Mapping[str, Any], problems: list[str]
) -> type[Any]:
    """Return an env's settings class with a key for each limb.

    Limbs in ``tree`` have their plug-in as ``type``.
    """
    own = read_fields(config)
    parts: list[tuple[str, type[Any] | None, str]] = []
    for limb, values in tree.items():
        plugin = values.get("type") if isinstance(values, Mapping) else None
        if limb in own or not _is_key(limb):
            continue
        if not isinstance(plugin, str):  # reported where its YAMLs are looked for
            parts.append((limb, None, ""))
            continue
        try:
            spec = find_plugin(_KIND, plugin)
            parts.append((limb, _load_part(spec), spec.summary))
        except PaprleError as err:
            problems.append(f"env.{limb}.env: {err}")
            parts.append((limb, None, ""))
    return _make_parts_class(config, tuple(parts))


def _load_part(spec: PluginSpec) -> type[Any]:
    config = load_config_class(spec)
    taken = read_fields(config).keys() & read_fields(PartSettings).keys()
    if spec.has_parts or taken:
        keys = f", got the keys {', '.join(sorted(taken))}" if taken else ""
        raise ConfigError(f"expected the env of a single arm{keys}")
    return config


def share_rate(tree: Tree, config: type[Any], places: Places) -> None:
    """Give all limbs one rate in place: the section's, or their slowest."""
    hints = read_fields(config)
    parts = {
        limb: values
        for limb, values in tree.items()
        if isinstance(values, dict) and (hint := hints.get(limb)) and hint.settings
    }
    rates = {
        limb: values.get("rate", read_defaults(hints[limb].settings or config)["rate"])
        for limb, values in parts.items()
        if "rate" in read_fields(hints[limb].settings)
    }
    said = {
        limb: rate
        for limb, rate in rates.items()
        if isinstance(rate, (int, float)) and not isinstance(rate, bool)
    }
    if tree.get("rate") is None and said:
        slowest = min(said, key=lambda limb: said[limb])
        tree["rate"] = said[slowest]
        places.follow(("env", "rate"), ("env", slowest, "rate"))
    for limb in rates if tree.get("rate") is not None else ():
        parts[limb]["rate"] = tree["rate"]
        places.follow(("env", limb, "rate"), ("env", "rate"))


def _is_key(limb: str) -> bool:
    return is_name(limb) and limb.isidentifier() and not iskeyword(limb)


def _is_named(limb: str, values: Any, places: Places, problems: list[str]) -> bool:
    place = places.of(("env", limb))
    if not _is_key(limb):
        problems.append(
            f"env.{limb}: expected a limb's name of small letters, digits and _, got "
            f"'{limb}' ({place})"
        )
        return False
    given = values if isinstance(values, dict) else {}
    lacking = [key for key in ("robot", "env") if not isinstance(given.get(key), str)]
    if lacking:
        problems.append(
            f"env.{limb}: expected a limb with its robot and env, got no "
            f"{' and no '.join(lacking)} ({place}); for example: {_EXAMPLE}"
        )
    return not lacking


def _read_part(
    limb: str,
    values: Mapping[str, Any],
    section: _Section,
    folders: Folders,
    problems: list[str],
) -> list[Layer]:
    given = {"env": values["env"], "follower": values["robot"]}
    for part, key in (("env", "env"), ("follower", "robot")):
        known = known_names(part, folders)
        if given[part] not in known:
            place = section.places.of(("env", limb, key))
            problems.append(
                f"env.{limb}.{key}: unknown name '{given[part]}' ({place}); "
                f"{suggest(given[part], known, f'{part}s')}"
            )
            return []
    found, unread = read_files(given, folders, problems)
    if unread:
        return []
    own: list[str] = []
    types = take_types(given, found, folders, own)
    check_pair(found, given, types, own)
    problems += [f"env.{limb}.{text}" for text in own]
    if own:
        return []
    layers = [
        Layer(layer.place, {"env": {limb: {"type": types["env"]}}})
        for layer in found[:1]
    ]
    found = [with_env(layer, given, types) for layer in found]
    layers += _describe_arm(limb, found)
    layers += [
        Layer(layer.place, {"env": {limb: layer.tree["env"]}})
        for layer in found
        if "env" in layer.tree
    ]
    return layers


def _describe_arm(limb: str, found: Sequence[Layer]) -> Iterator[Layer]:
    for layer in found:
        robot = layer.tree.get("follower", {})
        said = {"urdf": robot["urdf"]} if "urdf" in robot else {}
        limbs = look_up(robot, ("limbs",))[1]
        if isinstance(limbs, dict) and len(limbs) == 1:
            said["limb"] = next(iter(limbs))
        if said:
            yield Layer(layer.place, {"env": {limb: said}})


@lru_cache(maxsize=16)
def _make_parts_class(
    config: type[Any], parts: tuple[tuple[str, type[Any] | None, str], ...]
) -> type[Any]:
    keys: list[tuple[str, Any]] = []
    for limb, own, summary in parts:
        if own is None:
            keys.append((limb, Annotated[Any, doc(summary)]))
            continue
        part = make_class(own.__name__, [], own.__doc__ or "", (PartSettings, own))
        keys.append((limb, Annotated[part, doc(summary)]))
    return make_class(config.__name__, keys, config.__doc__ or "", (config,))
