"""Settings sections made of plug-ins.

``feedback.laws`` and ``observers`` have a key for each plug-in, ``advisors`` and
``cameras`` one for each configured name, whose ``type`` defaults to that name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, fields, make_dataclass
from functools import lru_cache
from keyword import iskeyword
from typing import Annotated, Any, NamedTuple

from annotated_types import doc

from paprle.contracts.errors import PaprleError
from paprle.contracts.kinds import KINDS, Kind
from paprle.contracts.settings.base import STRICT
from paprle.contracts.settings.core import ObserverSettings
from paprle.contracts.settings.feedback import FeedbackSettings
from paprle.contracts.validation.places import Tree
from paprle.plugins import find_plugin, is_name, list_names, load_config_class

DEFAULT_LAWS = frozenset(
    {
        "contact",
        "damping",
        "friction",
        "gravity",
        "gripper",
        "posture",
        "task_tracking",
        "tracking",
        "wall",
    }  # fmt: skip
)
"""Laws that are on unless the config says ``null``."""

NAMED: tuple[Kind, ...] = ("advisor", "camera")
"""Kinds whose section has a name of the user's for each plug-in."""


@lru_cache(maxsize=1)
def make_feedback_class() -> type[FeedbackSettings]:
    """Return the settings class with all loadable laws."""
    laws = _list_fields("feedback", DEFAULT_LAWS)
    laws_class = make_class("LawsSettings", laws, "Laws by name.")
    hint_laws: Any = Annotated[laws_class, doc("Laws by name; null switches one off.")]
    made: type[FeedbackSettings] = make_class(
        "FeedbackSettings",
        [("laws", hint_laws, field(default_factory=laws_class))],
        FeedbackSettings.__doc__ or "",
        (FeedbackSettings,),
    )
    return made


@lru_cache(maxsize=1)
def make_observers_class() -> type[ObserverSettings]:
    """Return the settings class with all observers, off."""
    made: type[ObserverSettings] = make_class(
        "ObserverSettings",
        _list_fields("observer", frozenset()),
        ObserverSettings.__doc__ or "",
        (ObserverSettings,),
    )
    return made


def make_named_classes(tree: Tree, problems: list[str]) -> dict[str, type[Any]]:
    """Return the classes of sections of named plug-ins."""
    return {
        KINDS[kind].section: _make_named_class(kind, tree, problems) for kind in NAMED
    }


def list_named(settings: Any) -> dict[str, Any]:
    """Return a section's enabled configs, by name."""
    configs = {f.name: getattr(settings, f.name) for f in fields(settings)}
    return {name: config for name, config in configs.items() if config is not None}


class _Named(NamedTuple):
    name: str
    plugin: str
    config: type[Any] | None
    summary: str


def _make_named_class(kind: Kind, tree: Tree, problems: list[str]) -> type[Any]:
    section = KINDS[kind].section
    entries = tree.get(section)
    named: list[_Named] = []
    for name, values in (entries if isinstance(entries, dict) else {}).items():
        if not is_name(name) or not name.isidentifier() or iskeyword(name):
            problems.append(
                f"{section}.{name}: expected a name of small letters, digits and _, "
                f"got {name!r}"
            )
        elif values is None:
            named.append(_Named(name, "", None, "Switched off."))
        else:
            wanted = values.get("type", name) if isinstance(values, dict) else name
            named.append(_find_named(kind, name, str(wanted), problems))
    return _make_section(kind, tuple(named))


def _find_named(kind: Kind, name: str, wanted: str, problems: list[str]) -> _Named:
    try:
        spec = find_plugin(kind, wanted)
        return _Named(name, wanted, load_config_class(spec), spec.summary)
    except PaprleError as err:
        problems.append(f"{KINDS[kind].section}.{name}.type: {err}")
        return _Named(name, wanted, None, "")


@lru_cache(maxsize=64)
def _make_section(kind: Kind, named: tuple[_Named, ...]) -> type[Any]:
    keys = [(one.name, _make_hint(kind, one)) for one in named]
    section = KINDS[kind].section
    return make_class(f"{section.title()}Settings", keys, f"Section ``{section}``.")


def _make_hint(kind: Kind, one: _Named) -> Any:
    if one.config is None:
        return Annotated[Any if one.plugin else None, doc(one.summary)]
    what = f"Plug-in of {KINDS[kind].folder}."
    own = [("type", Annotated[str, doc(what)], field(default=one.plugin))]
    extended = make_class(
        one.config.__name__, own, one.config.__doc__ or "", (one.config,)
    )
    return Annotated[extended, doc(one.summary)]


def _list_fields(kind: Kind, is_on: frozenset[str]) -> list[tuple[str, Any, Any]]:
    found: list[tuple[str, Any, Any]] = []
    for name in list_names(kind):
        try:
            spec = find_plugin(kind, name)
            config = load_config_class(spec)
        except PaprleError:
            continue
        hint: Any = config | None
        default = field(default=config() if name in is_on else None)
        found.append((name, Annotated[hint, doc(spec.summary)], default))
    return found


def make_class(
    name: str,
    keys: Sequence[tuple[Any, ...]],
    text: str,
    bases: tuple[type[Any], ...] = (),
) -> type[Any]:
    """Return a settings class of fields and bases."""
    space = {
        "__pydantic_config__": STRICT,
        "__module__": __name__,
        "__doc__": text,
    }
    return make_dataclass(
        name,
        keys,
        bases=bases,
        namespace=space,
        frozen=True,
        kw_only=True,
        slots=True,
    )
