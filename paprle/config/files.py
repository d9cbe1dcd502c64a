"""Names of the triple and their files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paprle.config.folders import Folders, find_folders, is_path
from paprle.config.layers import CORE, TRIPLE, merge
from paprle.config.measured import leave_out_others
from paprle.config.yaml_text import MAX_BYTES, read_yaml
from paprle.contracts.errors import suggest
from paprle.contracts.kinds import Kind
from paprle.contracts.validation.places import COMMAND_LINE, Layer, Places, look_up
from paprle.plugins import list_names

PLUGIN_KINDS: Mapping[str, Kind] = {"leader": "leader", "env": "follower"}
"""Which plug-ins the names of the triple name; a follower is a robot, no plug-in."""

CAMERAS = "cameras"
"""Section of the session that a robot's YAML may hold, too."""

EVERYWHERE = ("kinematic", "mujoco")
"""Envs that any robot can live in: all they need of it is in its URDF."""


def known_names(part: str, folders: Folders | None = None) -> tuple[str, ...]:
    """Return the possible names of a part."""
    names = (folders or find_folders()).list_names(part)
    if part in PLUGIN_KINDS:
        names.update(list_names(PLUGIN_KINDS[part]))
    return tuple(sorted(names))


def check_names(
    names: Mapping[str, str], folders: Folders, problems: list[str]
) -> None:
    """Report missing or unknown names."""
    for part in TRIPLE:
        known = known_names(part, folders)
        name = names.get(part)
        if name is None:
            there_are = f"there are: {', '.join(known) or 'none'}"
            problems.append(f"{part}: expected {part}=<name>, got none; {there_are}")
        elif name not in known and not is_path(name):
            tail = suggest(name, known, f"{part}s" if part != "env" else "envs")
            problems.append(f"{part}: unknown name '{name}' ({COMMAND_LINE}); {tail}")


def pick_rig(
    names: Mapping[str, str], folders: Folders, problems: list[str]
) -> dict[str, str]:
    """Return names with a leader's kind replaced by the follower's rig.

    ``leader=puppeteer`` means the YAML of that type whose ``belongs_to`` lists the
    follower.
    """
    kind, follower = names.get("leader", ""), names.get("follower", "")
    rigs = _find_rigs(kind, folders)
    if not rigs or any(path.stem == kind for path in folders.list_all("leader")):
        return dict(names)
    fitting = sorted(name for name, owners in rigs.items() if follower in owners)
    if len(fitting) == 1:
        return {**names, "leader": fitting[0]}
    listed = "; ".join(
        f"{name} (of {', '.join(owners) or 'none'})" for name, owners in rigs.items()
    )
    got = ", ".join(fitting) or "none"
    problems.append(
        f"leader: expected one '{kind}' that belongs to '{follower}', got {got}; "
        f"name one: {listed}"
    )
    return dict(names)


def _mentions(path: Path, word: str) -> bool:
    try:
        with path.open("rb") as stream:
            return word in stream.read(MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return False


def _find_rigs(kind: str, folders: Folders) -> dict[str, list[str]]:
    rigs: dict[str, list[str]] = {}
    for path in folders.list_all("leader"):
        if not _mentions(path, kind):
            continue  # parsing all of them takes longer than the rest of the config
        tree = read_yaml(path, path.name, []) or {}
        owners = tree.get("belongs_to")
        if tree.get("type") == kind and isinstance(owners, list):
            rigs[path.stem] = [str(owner) for owner in owners]
    return rigs


def read_files(
    names: Mapping[str, str], folders: Folders, problems: list[str]
) -> tuple[list[Layer], set[str]]:
    """Return the existing files' layers, and unreadable sections."""
    layers: list[Layer] = []
    unread = set() if _has_robot(names, folders) else {"follower"}
    ordered = {p: names[p] for p in ("leader", "env", "follower") if p in names}
    for part, label, path in folders.list_yamls(ordered):
        tree = read_yaml(path, label, problems)
        unread |= {part} if tree is None else set()
        layers.append(Layer(label, _lift_cameras({part: tree or {}})))
    for label, path in folders.list_sessions():
        tree = read_yaml(path, label, problems) or {}
        for section in [s for s in tree if s not in CORE]:
            tail = suggest(section, CORE, "sections here")
            problems.append(f"{section}: unknown key ({label}); {tail}")
            del tree[section]
        leave_out_others(tree, names)
        layers.append(Layer(label, tree))
    return layers, unread


def _lift_cameras(tree: dict[str, Any]) -> dict[str, Any]:
    robot = tree.get("follower", {})
    return {**tree, CAMERAS: robot.pop(CAMERAS)} if CAMERAS in robot else tree


def read_through(
    layers: Sequence[Layer], folders: Folders, problems: list[str]
) -> list[Layer]:
    """Return the layers of ``retarget.through``, as section ``through``.

    The command line does not apply to it.
    """
    key = ("retarget", "through")
    name = look_up(merge(layer.tree for layer in layers), key)[1]
    if not isinstance(name, str):
        return []
    known = known_names("follower", folders)
    if name not in known:
        place = Places(layers).of(key)
        tail = suggest(name, known, "followers")
        problems.append(f"retarget.through: unknown name '{name}' ({place}); {tail}")
        return []
    found, unread = read_files({"follower": name}, folders, problems)
    robots = [layer for layer in found if "follower" in layer.tree]
    return [
        Layer(layer.place, {"through": layer.tree["follower"]})
        for layer in (() if unread else robots)
    ]


def _has_robot(names: Mapping[str, str], folders: Folders) -> bool:
    return names.get("follower", "") in known_names("follower", folders)


def take_types(
    names: Mapping[str, str],
    layers: Sequence[Layer],
    folders: Folders,
    problems: list[str],
) -> dict[str, str]:
    """Remove and return ``type``, by default a YAML's name."""
    types = {part: names[part] for part in PLUGIN_KINDS if part in names}
    for layer in layers:
        for part in PLUGIN_KINDS:
            section = layer.tree.get(part)
            if not isinstance(section, dict):
                continue
            section.pop("belongs_to", None)  # for ``pick_rig`` alone
            if "type" not in section:
                continue
            value = section.pop("type")
            if isinstance(value, str):
                types[part] = value
            else:
                problems.append(
                    f"{part}.type: expected a plug-in's name, got {value!r} "
                    f"({layer.place})"
                )
    known = {part: known_names(part, folders) for part in types}
    return {
        part: name
        for part, name in types.items()
        if name != names.get(part) or name in known[part]
    }


def _envs_of(layer: Layer) -> Mapping[str, Any]:
    robot = layer.tree.get("follower")
    envs = robot.get("envs") if isinstance(robot, dict) else None
    return envs if isinstance(envs, dict) else {}


def check_pair(
    layers: Sequence[Layer],
    names: Mapping[str, str],
    types: Mapping[str, str],
    problems: list[str],
) -> None:
    """Refuse an env that does not fit the robot."""
    wanted = {names.get("env", ""), types.get("env", "")}
    if "env" not in types or "follower" not in names or wanted & set(EVERYWHERE):
        return
    listed = {env for layer in layers for env in _envs_of(layer)}
    if not wanted & listed:
        follower, env = names["follower"], names["env"]
        envs = ", ".join(sorted({*listed, *EVERYWHERE}))
        problems.append(
            f"env: expected an env of follower '{follower}', got '{env}' "
            f"({COMMAND_LINE}); it has: {envs}"
        )


def with_env(layer: Layer, names: Mapping[str, str], types: Mapping[str, str]) -> Layer:
    """Merge the robot's settings in this env beneath its own."""
    envs = _envs_of(layer)
    wanted = dict.fromkeys((types.get("env", ""), names.get("env", "")))
    parts = [{"env": envs[env]} for env in wanted if isinstance(envs.get(env), dict)]
    if not parts:
        return layer
    return Layer(layer.place, merge([*parts, layer.tree]))
