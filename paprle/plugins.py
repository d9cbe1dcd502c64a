"""Lazy lookup of plug-ins by name, in packages and entry points only."""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from paprle.contracts.errors import (
    MissingDependency,
    PluginBroken,
    PluginNotFound,
    suggest,
)
from paprle.contracts.kinds import KINDS, Kind
from paprle.contracts.plugins import PluginSpec

_NAME = re.compile(r"[a-z0-9_]+")
_PACKAGE = Path(__file__).parent


def is_name(name: str) -> bool:
    """Return whether this is a valid plug-in, robot or env name."""
    return _NAME.fullmatch(name) is not None


def list_names(kind: Kind) -> tuple[str, ...]:
    """Return a kind's plug-in names without imports."""
    return tuple(sorted({*_local_names(kind), *_entries(kind)}))


def find_plugin(kind: Kind, name: str) -> PluginSpec:
    """Return the spec of a plug-in, its classes not yet loaded.

    A package of PAPRLE wins over an entry point.

    Raises:
        PluginNotFound: If the name is unknown; lists the existing ones.
        MissingDependency: If its spec needs a missing SDK.
        PluginBroken: If it has no ``PLUGIN`` that is a ``PluginSpec``.
    """
    if is_name(name) and name in _local_names(kind):
        module, attribute = f"paprle.{KINDS[kind].folder}.{name}", "PLUGIN"
    elif name in (entries := _entries(kind)):
        module, attribute = entries[name].module, entries[name].attr or "PLUGIN"
    else:
        tail = suggest(name, list_names(kind), f"{KINDS[kind].folder} there are")
        msg = f"{kind} '{name}': unknown name; {tail}"
        raise PluginNotFound(msg)
    spec = getattr(_import(module, f"{kind} '{name}'", ""), attribute, None)
    if not isinstance(spec, PluginSpec):
        msg = f"{kind} '{name}': expected a PluginSpec in {module}:{attribute}"
        raise PluginBroken(f"{msg}, got {type(spec).__name__}")
    return spec


def list_plugins(kind: Kind) -> dict[str, PluginSpec]:
    """Return a kind's valid plug-ins by name."""
    found = scan_plugins(kind)
    return {name: spec for name, spec in found.items() if isinstance(spec, PluginSpec)}


def scan_plugins(kind: Kind) -> dict[str, PluginSpec | Exception]:
    """Return a kind's plug-ins by name, or the errors of broken ones."""
    found: dict[str, PluginSpec | Exception] = {}
    for name in list_names(kind):
        try:
            found[name] = find_plugin(kind, name)
        except Exception as err:  # noqa: BLE001 - a stranger's code may raise anything
            found[name] = err
    return found


def find_fault(spec: PluginSpec) -> Exception | None:
    """Return the error of loading a plug-in's classes, if any."""
    try:
        load_config_class(spec)
        load_factory(spec)
    except Exception as err:  # noqa: BLE001 - a stranger's code may raise anything
        return err
    return None


def find_missing_packages(kind: Kind, name: str) -> list[str]:
    """Return a message for each missing package of a plug-in."""
    spec = find_plugin(kind, name)
    return [
        f"{kind} '{name}': expected the package {package}, got none; {spec.install}"
        for package in spec.packages
        if find_spec(package) is None
    ]


def load_config_class(spec: PluginSpec) -> type[Any]:
    """Return a plug-in's config dataclass; raises as ``load_factory``."""
    return _load(spec.config, spec.install)


def load_factory(spec: PluginSpec) -> type[Any]:
    """Return a plug-in's class.

    Raises:
        MissingDependency: If a package is not installed.
        PluginBroken: If ``PluginSpec`` names a missing class.
    """
    return _load(spec.factory, spec.install)


def load_servo_search(spec: PluginSpec) -> type[Any] | None:
    """Return a leader's class that finds servos, or None; raises as others."""
    return _load(spec.servos, spec.install) if spec.servos else None


def _load(reference: str, install: str) -> type[Any]:
    module, _, attribute = reference.partition(":")
    value = getattr(_import(module, f"plug-in '{module}'", install), attribute, None)
    if not isinstance(value, type):
        msg = f"plug-in '{module}': expected a class {attribute!r}, got {value!r}"
        raise PluginBroken(msg)
    return value


def _import(module: str, who: str, install: str) -> ModuleType:
    try:
        return import_module(module)
    except ImportError as err:
        missing = _missing_package(err)
        if missing is None:  # A typo in the plug-in is a bug and stays visible as one.
            raise
        what_to_do = f"install it with: {install}" if install else "install it"
        msg = f"{who}: expected {missing}, got none; {what_to_do}"
        raise MissingDependency(msg) from err


def _missing_package(err: ImportError) -> str | None:
    """Return the missing package, or None for other failures."""
    if "cannot open shared object file" in str(err):
        return f"the system library '{str(err).partition(':')[0]}'"
    if not isinstance(err, ModuleNotFoundError) or err.name is None:
        return None
    package = err.name.partition(".")[0]
    return None if find_spec(package) is not None else f"the package '{package}'"


def _local_names(kind: Kind) -> tuple[str, ...]:
    """Return packages, and modules in ``feedback``."""
    folder = _PACKAGE / KINDS[kind].folder
    names = [path.parent.name for path in folder.glob("*/__init__.py")]
    names += [path.stem for path in folder.glob("*.py") if path.stem != "__init__"]
    return tuple(name for name in names if is_name(name))


def _entries(kind: Kind) -> dict[str, EntryPoint]:
    group = f"paprle.{KINDS[kind].folder}"
    return _read_entries(group, tuple(map(_look_at, sys.path)))


def _look_at(folder: str) -> tuple[str, int]:
    """Return a folder and its last change, [ns]."""
    try:
        return folder, Path(folder).stat().st_mtime_ns
    except OSError:
        return folder, 0


@lru_cache(maxsize=64)
def _read_entries(
    group: str,
    path: tuple[tuple[str, int], ...],  # noqa: ARG001 - where they are looked for
) -> dict[str, EntryPoint]:
    """Return the installed entry points, cached as reading takes 10 ms."""
    found = entry_points(group=group)
    return {entry.name: entry for entry in found if is_name(entry.name)}
