"""Verbs that show what there is: ``list`` and ``config``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from paprle.cli.verb import SETTINGS, Verb, add_settings, say
from paprle.config import known_names, resolve
from paprle.config.explain import explain
from paprle.config.files import PLUGIN_KINDS
from paprle.config.layers import GROUP
from paprle.config.yaml_text import read_yaml
from paprle.contracts.errors import MissingDependency
from paprle.contracts.kinds import KINDS, Kind, PluginKind
from paprle.contracts.plugins import PluginSpec
from paprle.ipc.process import WORKSPACE
from paprle.plugins import find_fault, scan_plugins


def _add_list(_: argparse.ArgumentParser) -> None:
    """``list`` has no arguments."""


def _list(_: argparse.Namespace) -> int:
    parts = [(kind.title, _describe_kind(kind)) for kind in KINDS.values()]
    parts.insert(1, ("robots (follower=…)", _describe_robots()))
    for title, lines in parts:
        rows = list(lines)
        if rows:
            say("\n".join([title, *(f"  {name:<20} {text}" for name, text in rows)]))
            say("")
    return 0


def _describe_robots() -> Iterator[tuple[str, str]]:
    for name in known_names("follower"):
        label = f"configs/follower/{name}.yaml"
        problems: list[str] = []
        values = read_yaml(WORKSPACE / label, label, problems) or {}
        envs = values.get("envs")
        lives = f"; envs: {', '.join(envs)}" if isinstance(envs, dict) else ""
        broken = f"BROKEN: {problems[0]}" if problems else ""
        yield name, broken or f"{_find_title(name) or values.get('urdf', '')}{lives}"


def _find_title(name: str) -> str:
    """Return the first sentence of a robot's YAML, which stands in a comment."""
    path = WORKSPACE / f"configs/follower/{name}.yaml"
    if not path.is_file():
        return ""
    with path.open(encoding="utf-8", errors="replace") as file:
        line = file.readline().strip()
    return line.removeprefix("#").strip().split(". ")[0] if line[:1] == "#" else ""


def _describe_plugins(part: str) -> Iterator[tuple[str, str]]:
    plugins = scan_plugins(PLUGIN_KINDS[part])
    for name in known_names(part):
        values = _read_values(part, name)
        if GROUP in values:
            named = ", ".join(values[GROUP] or ())
            yield name, f"several leaders: {named or 'those that are named beside it'}"
            continue
        plugin = str(values.get("type", name))
        alias = "" if plugin == name else f"type {plugin}: "
        found = plugins.get(plugin)
        text = "BROKEN: no such plug-in" if found is None else _describe(found)
        yield name, alias + text


def _read_values(part: str, name: str) -> dict[str, Any]:
    """Return what the YAMLs of a name say, a site's over the others."""
    values: dict[str, Any] = {}
    for folder in ("configs", "configs/site"):
        label = f"{folder}/{part}/{name}.yaml"
        if (WORKSPACE / label).is_file():
            values |= read_yaml(WORKSPACE / label, label, []) or {}
    return values


def _describe_kind(kind: PluginKind) -> Iterator[tuple[str, str]]:
    """Describe plug-ins by the names that the config has for them."""
    is_named = kind.section in PLUGIN_KINDS
    return _describe_plugins(kind.section) if is_named else _describe_all(kind.kind)


def _describe_all(kind: Kind) -> Iterator[tuple[str, str]]:
    for name, found in scan_plugins(kind).items():
        yield name, _describe(found)


def _describe(found: PluginSpec | Exception) -> str:
    if not isinstance(found, PluginSpec):
        return _say_fault(found)
    fault = find_fault(found)
    if fault is not None:
        return f"{found.summary} {_say_fault(fault)}"
    verified = "UNVERIFIED" if found.verified == "none" else found.verified
    return f"{found.summary} [{verified}]"


def _say_fault(err: Exception) -> str:
    text = (str(err) or repr(err)).splitlines()[0]
    if isinstance(err, MissingDependency):
        return f"MISSING: {text}"
    return f"BROKEN: {type(err).__name__}: {text}"


def _add_config(parser: argparse.ArgumentParser) -> None:
    add_settings(parser)
    parser.add_argument(
        "--json", action="store_true", help="print JSON, as stored in recordings"
    )


def _config(args: argparse.Namespace) -> int:
    resolved = resolve(args.settings)
    if args.json:
        say(json.dumps(resolved.to_dict(), indent=2, ensure_ascii=False))
    else:
        say(explain(resolved))
    return 0


LIST = Verb(
    name="list",
    summary="List leaders, robots and envs.",
    help="""\
Brackets name what an entry was verified with: emulator, simulator or hardware. MISSING
names the package to install, BROKEN the reason why a plug-in does not load; neither
affects other entries.""",
    add_arguments=_add_list,
    run=_list,
)

CONFIG = Verb(
    name="config",
    summary="Show the merged config: each key's value, unit, bounds, meaning, origin.",
    help=f"""\
{SETTINGS}

Layers, the last one wins: defaults of the classes, configs/, configs/site/, the command
line. A robot's YAML holds its settings for an env under envs.<env>.

example:
  paprle config leader=autopilot follower=piper env=mujoco session.rate=100""",
    add_arguments=_add_config,
    run=_config,
)
