"""Resolution of YAMLs and command line to one frozen config.

Later wins: defaults, ``configs``, ``configs/site``, ``PAPRLE_CONFIG_PATH``, emulators,
command line. A follower's ``envs.<env>`` overrides the env. No device is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from paprle.config.check import keep_texts, make_absolute
from paprle.config.emulated import read_emulated
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
from paprle.config.folders import find_folders, take_files
from paprle.config.group import Group, name_section, read_group
from paprle.config.laws import (
    make_feedback_class,
    make_named_classes,
    make_observers_class,
)
from paprle.config.layers import (
    CORE,
    GROUP,
    TRIPLE,
    interpolate,
    merge,
    read_command_line,
)
from paprle.config.parts import (
    has_parts,
    make_parts_class,
    read_emulated_parts,
    read_parts,
    share_rate,
)
from paprle.contracts.errors import ConfigError, PaprleError
from paprle.contracts.kit.leader_group import ALONE
from paprle.contracts.settings.core import (
    GateSettings,
    IkSettings,
    LinkSettings,
    ObserverSettings,
    RecordSettings,
    RobotSettings,
    SessionSettings,
)
from paprle.contracts.settings.feedback import FeedbackSettings
from paprle.contracts.settings.retarget import RetargetSettings
from paprle.contracts.validation.check import validate
from paprle.contracts.validation.fields import read_defaults, to_plain
from paprle.contracts.validation.places import DEFAULT, Layer, Places
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


@dataclass(frozen=True)
class LeaderChoice:
    """Leader of a session."""

    name: str
    type: str
    config: Any


@dataclass(frozen=True, kw_only=True)
class Resolved:
    """Validated config of a session, equal in every process.

    Attributes:
        leaders: Leaders by name; an only one is ``ALONE``.
        sources: Dotted key → file, ``command line`` or ``default``.
    """

    leader_name: str
    follower_name: str
    env_name: str
    env_type: str
    leaders: Mapping[str, LeaderChoice]
    env: Any
    robot: RobotSettings
    retarget: RetargetSettings
    ik: IkSettings
    gate: GateSettings
    session: SessionSettings
    feedback: FeedbackSettings
    record: RecordSettings
    observers: ObserverSettings
    advisors: Any
    cameras: Any
    link: LinkSettings
    through: RobotSettings | None = None
    sources: Mapping[str, str] = field(default_factory=dict)

    @property
    def only_leader(self) -> LeaderChoice:
        """The only leader.

        Raises:
            ConfigError: If there are several.
        """
        if set(self.leaders) != {ALONE}:
            raise ConfigError(
                f"leader: expected a single one, got '{self.leader_name}' of "
                f"{', '.join(self.leaders)}; name one of them"
            )
        return self.leaders[ALONE]

    @property
    def leader_type(self) -> str:
        """Plug-in of the only leader."""
        return self.only_leader.type

    @property
    def leader(self) -> Any:
        """Config of the only leader's plug-in."""
        return self.only_leader.config

    @property
    def is_gate_afar(self) -> bool:
        """Whether ``link`` connects to the robot's host."""
        configs = (getattr(one.config, "link", None) for one in self.leaders.values())
        to_leaders = [link for link in configs if isinstance(link, LinkSettings)]
        return self.link.peer is not None and not to_leaders

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        names = {name: str(getattr(self, name)) for name in _NAMES}
        sections = {s: to_plain(self.section(s)) for s in ("follower", "env", *CORE)}
        if self.through is not None:
            sections["through"] = to_plain(self.through)
        return {
            **names,
            **self._list_leaders(),
            **sections,
            "sources": dict(self.sources),
        }

    def _list_leaders(self) -> dict[str, Any]:
        if set(self.leaders) == {ALONE}:
            return {"leader_type": self.leader_type, "leader": to_plain(self.leader)}
        listed = {
            name: {"name": one.name, "type": one.type, "config": to_plain(one.config)}
            for name, one in self.leaders.items()
        }
        return {GROUP: listed}

    def section(self, name: str) -> Any:
        """Return a section's settings; ``follower`` is the robot."""
        return getattr(self, "robot" if name == "follower" else name)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Resolved:
        """Return the config of ``to_dict`` values without reading files.

        Raises:
            ConfigError: If they are not valid here.
        """
        leaders = _read_leaders(values)
        problems = [
            f"resolved config: expected the key '{name}', got none"
            for name in (*_NAMES, "follower", "env", *CORE, "sources")
            if name not in values
        ]
        if problems or not leaders:
            missing = "resolved config: expected the key 'leader', got none"
            raise ConfigError(problems or [missing])
        names: dict[str, Any] = {name: str(values[name]) for name in _NAMES}
        has_through = "through" in values
        sections = ("follower", "env", *CORE, *["through"] * has_through)
        tree = {section: values[section] for section in sections}
        tree |= {name_section(k): one.config for k, one in leaders.items()}
        places = Places([Layer("resolved config", tree)])
        types = {name_section(k): one.type for k, one in leaders.items()}
        classes = find_classes(types, names["env_type"], problems)
        classes |= make_named_classes(tree, problems)
        _add_parts(classes, names["env_type"], tree, problems)
        classes |= {"through": RobotSettings} if has_through else {}
        made = _make(classes, tree, places, problems)
        return cls(
            **names,
            **_gather(leaders, made),
            sources=dict(values["sources"]),
        )


_NAMES = ("leader_name", "follower_name", "env_name", "env_type")


def _read_leaders(values: Mapping[str, Any]) -> dict[str, LeaderChoice]:
    if GROUP in values:
        return {name: LeaderChoice(**one) for name, one in values[GROUP].items()}
    if not {"leader", "leader_type"} <= values.keys():
        return {}
    name = str(values.get("leader_name", ""))
    return {ALONE: LeaderChoice(name, values["leader_type"], values["leader"])}


def resolve(args: Sequence[str], root: Path | None = None) -> Resolved:
    """Return the validated config of ``leader=… follower=… env=… key=value …``.

    Raises:
        ConfigError: With all mistakes.
    """
    problems: list[str] = []
    line = read_command_line(args, problems)
    names, files = take_files(line.names, problems)
    folders = find_folders(root).with_files(files)
    check_names(names, folders, problems)
    given = pick_rig(names, folders, problems)
    layers, unread = read_files(given, folders, problems)
    layers += [*read_emulated(given, line.layer.tree, problems), line.layer]
    group = read_group(given, layers, folders, problems)
    layers = layers if group is None else group.layers
    types = take_types(given, layers, folders, problems)
    for section in unread:  # What is missing in it cannot be said.
        types.pop(section, None)
    leaders = _name_leaders(given, types, group)
    layers[-1:-1] = read_emulated_parts(given, types, layers, problems)
    layers[:0] = read_parts(given, types, layers, folders, problems)
    plugins = {name_section(k): one.type for k, one in leaders.items()}
    classes = find_classes(plugins, types.get("env"), problems)
    whole = merge(with_env(layer, given, types).tree for layer in layers)
    classes |= make_named_classes(whole, problems)
    _add_parts(classes, types.get("env"), whole, problems)
    if "follower" in unread:
        del classes["follower"]
    if "follower" in classes:
        check_pair(layers, given, types, problems)
    keep_texts(classes, line)
    through = read_through(layers, folders, problems)
    classes |= {"through": RobotSettings} if through else {}
    layers += through
    layers = [with_env(layer, given, types) for layer in layers]
    defaults = {section: read_defaults(cls) for section, cls in classes.items()}
    layers.insert(0, Layer(DEFAULT, defaults))
    places = Places(layers)
    tree = interpolate(merge(layer.tree for layer in layers), places, problems)
    if has_parts(types.get("env")):
        share_rate(tree.get("env", {}), classes["env"], places)
    for section, cls in classes.items():
        make_absolute(cls, tree.get(section, {}), section, folders.root, places)
    made = _make(classes, tree, places, problems)
    said: dict[str, Any] = {f"{k}_name": given.get(k, "") for k in TRIPLE}
    said["env_type"] = types.get("env", "")
    return Resolved(**said, **_gather(leaders, made), sources=places.as_dict())


def _name_leaders(
    given: Mapping[str, str], types: Mapping[str, str], group: Group | None
) -> dict[str, LeaderChoice]:
    if group is not None:
        return {
            name: LeaderChoice(group.yamls[name], plugin, None)
            for name, plugin in group.types.items()
        }
    if "leader" not in types:
        return {}
    return {ALONE: LeaderChoice(given.get("leader", ""), types["leader"], None)}


def find_classes(
    leaders: Mapping[str, str], env_type: str | None, problems: list[str]
) -> dict[str, type[Any]]:
    """Return the settings class of each section."""
    plugins = [(section, "leader", name) for section, name in leaders.items()]
    plugins += [] if env_type is None else [("env", "env", env_type)]
    classes: dict[str, type[Any]] = {}
    for section, part, name in plugins:
        try:
            classes[section] = load_config_class(find_plugin(PLUGIN_KINDS[part], name))
        except PaprleError as err:
            problems.append(str(err))
    made = {"feedback": make_feedback_class(), "observers": make_observers_class()}
    return {**classes, **_CORE_CLASSES, **made}


def _add_parts(
    classes: dict[str, type[Any]],
    env_type: str | None,
    tree: Mapping[str, Any],
    problems: list[str],
) -> None:
    section = tree.get("env")
    if "env" in classes and has_parts(env_type) and isinstance(section, Mapping):
        classes["env"] = make_parts_class(classes["env"], section, problems)


def _make(
    classes: Mapping[str, type[Any]],
    tree: Mapping[str, Any],
    places: Places,
    problems: list[str],
) -> dict[str, Any]:
    made: dict[str, Any] = {
        section: validate(cls, tree.get(section, {}), section, places, problems)
        for section, cls in classes.items()
        if section in tree
    }
    if problems:
        raise ConfigError(list(dict.fromkeys(problems)))
    return made


def _gather(
    leaders: Mapping[str, LeaderChoice], made: dict[str, Any]
) -> dict[str, Any]:
    chosen = {
        name: replace(one, config=made.pop(name_section(name)))
        for name, one in leaders.items()
    }
    robot = made.pop("follower")
    return {**made, "robot": robot, "leaders": chosen}


__all__ = ["LeaderChoice", "Resolved", "known_names", "resolve"]
