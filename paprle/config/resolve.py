"""YAML triple, site overlay and command line → one validated, frozen config.

Later wins: class defaults, ``configs/leader|follower|env/<name>.yaml``, the same below
``configs/site`` with ``configs/site/session.yaml``, the command line. What a robot
needs in an env stands in the follower's YAML under ``envs.<env>``, over the env's own.
Nothing is opened and no device is imported; all mistakes are told at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paprle.config.check import keep_texts, make_absolute, validate
from paprle.config.fields import read_defaults, to_plain
from paprle.config.files import (
    PLUGIN_KINDS,
    check_names,
    check_pair,
    known_names,
    pick_rig,
    read_files,
    read_through,
    take_types,
    with_env,
)
from paprle.config.laws import make_feedback_class, make_observers_class
from paprle.config.layers import (
    CORE,
    DEFAULT,
    TRIPLE,
    Layer,
    Places,
    interpolate,
    merge,
    read_command_line,
)
from paprle.contracts.errors import ConfigError, PaprleError
from paprle.contracts.feedback_settings import FeedbackSettings
from paprle.contracts.settings import (
    GateSettings,
    IkSettings,
    LinkSettings,
    ObserverSettings,
    RecordSettings,
    RetargetSettings,
    RobotSettings,
    SessionSettings,
)
from paprle.ipc.process import WORKSPACE
from paprle.plugins import find_plugin, load_config_class

_CORE_CLASSES: Mapping[str, type[Any]] = {
    "follower": RobotSettings,
    "retarget": RetargetSettings,
    "ik": IkSettings,
    "gate": GateSettings,
    "session": SessionSettings,
    "record": RecordSettings,
    "link": LinkSettings,
}


@dataclass(frozen=True, kw_only=True)
class Resolved:
    """The config of a session: complete, validated, the same in every process.

    Attributes:
        leader_name: Name of the leader's YAML.
        follower_name: Name of the robot's YAML.
        env_name: Name of the env's YAML.
        leader_type: Leader plug-in.
        env_type: Follower plug-in.
        leader: Config of the leader plug-in, of its own class.
        env: Config of the follower plug-in, of its own class.
        robot: The robot; paths in it are absolute.
        retarget: Section ``retarget``.
        ik: Section ``ik``.
        gate: Section ``gate``.
        session: Section ``session``.
        feedback: Section ``feedback``; ``laws`` has a config or None by law.
        record: Section ``record``.
        observers: Section ``observers``; a config or None by observer.
        link: Section ``link``.
        through: The robot that ``retarget.through`` names; paths in it are absolute.
        sources: Dotted key → the file it came from, ``command line`` or ``default``.
    """

    leader_name: str
    follower_name: str
    env_name: str
    leader_type: str
    env_type: str
    leader: Any
    env: Any
    robot: RobotSettings
    retarget: RetargetSettings
    ik: IkSettings
    gate: GateSettings
    session: SessionSettings
    feedback: FeedbackSettings
    record: RecordSettings
    observers: ObserverSettings
    link: LinkSettings
    through: RobotSettings | None = None
    sources: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as values that JSON can hold."""
        names = {name: str(getattr(self, name)) for name in _NAMES}
        sections = {s: to_plain(self.section(s)) for s in (*TRIPLE, *CORE)}
        if self.through is not None:
            sections["through"] = to_plain(self.through)
        return {**names, **sections, "sources": dict(self.sources)}

    def section(self, name: str) -> Any:
        """Return the settings of a section; ``follower`` is the robot."""
        return getattr(self, "robot" if name == "follower" else name)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Resolved:
        """Make it again in another process; reads no file.

        Args:
            values: What ``to_dict`` returned.

        Returns:
            An equal config.

        Raises:
            ConfigError: If the values are not valid here.
        """
        problems = [
            f"resolved config: expected the key '{name}', got none"
            for name in (*_NAMES, *TRIPLE, *CORE, "sources")
            if name not in values
        ]
        if problems:
            raise ConfigError(problems)
        names = {name: str(values[name]) for name in _NAMES}
        has_through = "through" in values
        sections = (*TRIPLE, *CORE, *["through"] * has_through)
        tree = {section: values[section] for section in sections}
        places = Places([Layer("resolved config", tree)])
        classes = _find_classes(names["leader_type"], names["env_type"], problems)
        classes |= {"through": RobotSettings} if has_through else {}
        return _make(names, classes, tree, places, dict(values["sources"]), problems)


_NAMES = ("leader_name", "follower_name", "env_name", "leader_type", "env_type")


def resolve(args: Sequence[str], root: Path | None = None) -> Resolved:
    """Resolve ``leader=… follower=… env=… key=value …``.

    Args:
        args: The command line's words, in any order; the last of equal keys wins.
        root: The workspace with ``configs`` and ``urdf``; the one that holds this
            package when absent.

    Returns:
        The validated config; relative paths of the command line are relative to the
        working directory, those of files to the workspace, all are absolute.

    Raises:
        ConfigError: With every mistake in names, files and command line.
    """
    root = (root or WORKSPACE).resolve()
    problems: list[str] = []
    line = read_command_line(args, problems)
    check_names(line.names, root, problems)
    given = pick_rig(line.names, root, problems)
    layers, unread = read_files(given, root, problems)
    layers.append(line.layer)
    types = take_types(given, layers, root, problems)
    for section in unread:  # What is missing in it cannot be said.
        types.pop(section, None)
    classes = _find_classes(types.get("leader"), types.get("env"), problems)
    if "follower" in unread:
        del classes["follower"]
    if "follower" in classes:
        check_pair(layers, given, types, problems)
    keep_texts(classes, line)
    through = read_through(layers, root, problems)
    classes |= {"through": RobotSettings} if through else {}
    layers += through
    layers = [with_env(layer, given, types) for layer in layers]
    defaults = {section: read_defaults(cls) for section, cls in classes.items()}
    layers.insert(0, Layer(DEFAULT, defaults))
    places = Places(layers)
    tree = interpolate(merge(layer.tree for layer in layers), places, problems)
    for section, cls in classes.items():
        make_absolute(cls, tree.get(section, {}), section, root, places)
    names = {f"{part}_name": given.get(part, "") for part in TRIPLE}
    names |= {f"{part}_type": types.get(part, "") for part in PLUGIN_KINDS}
    return _make(names, classes, tree, places, places.as_dict(), problems)


def _find_classes(
    leader_type: str | None, env_type: str | None, problems: list[str]
) -> dict[str, type[Any]]:
    classes: dict[str, type[Any]] = {}
    for part, name in (("leader", leader_type), ("env", env_type)):
        if name is None:
            continue
        try:
            classes[part] = load_config_class(find_plugin(PLUGIN_KINDS[part], name))
        except PaprleError as err:
            problems.append(str(err))
    made = {"feedback": make_feedback_class(), "observers": make_observers_class()}
    return {**classes, **_CORE_CLASSES, **made}


def _make(
    names: Mapping[str, str],
    classes: Mapping[str, type[Any]],
    tree: Mapping[str, Any],
    places: Places,
    sources: Mapping[str, str],
    problems: list[str],
) -> Resolved:
    made: dict[str, Any] = {
        section: validate(cls, tree.get(section, {}), section, places, problems)
        for section, cls in classes.items()
        if section in tree
    }
    if problems:
        raise ConfigError(list(dict.fromkeys(problems)))
    made["robot"] = made.pop("follower")
    return Resolved(**{**names, **made, "sources": sources})


__all__ = ["Resolved", "known_names", "resolve"]
