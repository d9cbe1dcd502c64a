"""Verbs ``list`` and ``config``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from paprle.cli.verb import SETTINGS, Verb, add_settings, say
from paprle.config import known_names, resolve
from paprle.config.explain import explain
from paprle.config.files import PLUGIN_KINDS
from paprle.config.folders import VARIABLE, Folders, find_folders
from paprle.config.layers import GROUP, merge
from paprle.config.yaml_text import read_yaml
from paprle.contracts.errors import MissingDependency
from paprle.contracts.kinds import KINDS, Kind, PluginKind
from paprle.contracts.plugins import PluginSpec
from paprle.plugins import find_fault, scan_plugins


def _add_list(_: argparse.ArgumentParser) -> None:
    """``list`` has no arguments."""


def _list(_: argparse.Namespace) -> int:
    folders = find_folders()
    parts = [(kind.title, _describe_kind(kind, folders)) for kind in KINDS.values()]
    parts.insert(1, ("robots (follower=…)", _describe_robots(folders)))
    for title, lines in parts:
        rows = list(lines)
        if rows:
            say("\n".join([title, *(f"  {name:<20} {text}" for name, text in rows)]))
            say("")
    return 0


def _describe_robots(folders: Folders) -> Iterator[tuple[str, str]]:
    for name in known_names("follower", folders):
        problems: list[str] = []
        values = _read_values("follower", name, folders, problems)
        envs = values.get("envs")
        lives = f"; envs: {', '.join(envs)}" if isinstance(envs, dict) else ""
        broken = f"BROKEN: {problems[0]}" if problems else ""
        title = _find_title(name, folders) or values.get("urdf", "")
        yield name, broken or f"{title}{lives}"


def _find_title(name: str, folders: Folders) -> str:
    for _, _, path in folders.list_yamls({"follower": name}):
        with path.open(encoding="utf-8", errors="replace") as file:
            line = file.readline().strip()
        if line[:1] == "#":
            return line.removeprefix("#").strip().split(". ")[0]
    return ""


def _describe_plugins(part: str, folders: Folders) -> Iterator[tuple[str, str]]:
    plugins = scan_plugins(PLUGIN_KINDS[part])
    for name in known_names(part, folders):
        problems: list[str] = []
        values = _read_values(part, name, folders, problems)
        if problems:
            yield name, f"BROKEN: {problems[0]}"
            continue
        if GROUP in values:
            named = ", ".join(values[GROUP] or ())
            yield name, f"several leaders: {named or 'those that are named beside it'}"
            continue
        plugin = str(values.get("type", name))
        alias = "" if plugin == name else f"type {plugin}: "
        found = plugins.get(plugin)
        text = "BROKEN: no such plug-in" if found is None else _describe(found)
        yield name, alias + text


def _read_values(
    part: str, name: str, folders: Folders, problems: list[str]
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for _, label, path in folders.list_yamls({part: name}):
        values = merge([values, read_yaml(path, label, problems) or {}])
    return values


def _describe_kind(kind: PluginKind, folders: Folders) -> Iterator[tuple[str, str]]:
    if kind.section in PLUGIN_KINDS:
        return _describe_plugins(kind.section, folders)
    return _describe_all(kind.kind)


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

Layers, the last one wins: defaults of the classes, configs/, configs/site/, the folders
of {VARIABLE} (laid out alike, separated by colons, the first one wins), the
command line. A robot's YAML holds its settings for an env under envs.<env>.

example:
  paprle config leader=autopilot follower=piper env=mujoco session.rate=100""",
    add_arguments=_add_config,
    run=_config,
)
