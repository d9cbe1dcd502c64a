"""Sections made of plug-ins: ``feedback`` of its laws, ``observers`` of observers.

One field a plug-in, named as it, of its own config class: keys, units, bounds and
mistakes are those of any other section.
"""

from __future__ import annotations

from dataclasses import field, make_dataclass
from functools import lru_cache
from typing import Annotated, Any

from annotated_types import doc

from paprle.contracts.errors import PaprleError
from paprle.contracts.feedback_settings import FeedbackSettings
from paprle.contracts.kinds import Kind
from paprle.contracts.settings import STRICT, ObserverSettings
from paprle.plugins import find_plugin, list_names, load_config_class

DEFAULT_LAWS = frozenset({"damping", "gripper", "task_tracking", "tracking", "wall"})
"""Laws that are on unless the config says ``null``."""


@lru_cache(maxsize=1)
def make_feedback_class() -> type[FeedbackSettings]:
    """Return the settings class with one key for each law there is.

    A law that cannot be loaded is no key, so that it fails those alone who name it.
    """
    laws = _list_fields("feedback", DEFAULT_LAWS)
    laws_class = _make("LawsSettings", laws, "Laws by name.")
    hint_laws: Any = Annotated[laws_class, doc("Laws by name; null switches one off.")]
    made: type[FeedbackSettings] = _make(
        "FeedbackSettings",
        [("laws", hint_laws, field(default_factory=laws_class))],
        FeedbackSettings.__doc__ or "",
        (FeedbackSettings,),
    )
    return made


@lru_cache(maxsize=1)
def make_observers_class() -> type[ObserverSettings]:
    """Return the settings class with one key for each observer; all are off."""
    made: type[ObserverSettings] = _make(
        "ObserverSettings",
        _list_fields("observer", frozenset()),
        ObserverSettings.__doc__ or "",
        (ObserverSettings,),
    )
    return made


def _list_fields(kind: Kind, is_on: frozenset[str]) -> list[tuple[str, Any, Any]]:
    """Return a field for each plug-in; one that cannot be loaded is none."""
    fields: list[tuple[str, Any, Any]] = []
    for name in list_names(kind):
        try:
            spec = find_plugin(kind, name)
            config = load_config_class(spec)
        except PaprleError:
            continue
        hint: Any = config | None
        default = field(default=config() if name in is_on else None)
        fields.append((name, Annotated[hint, doc(spec.summary)], default))
    return fields


def _make(
    name: str,
    fields: list[tuple[str, Any, Any]],
    text: str,
    bases: tuple[type[Any], ...] = (),
) -> type[Any]:
    space = {
        "__pydantic_config__": STRICT,
        "__module__": __name__,
        "__doc__": text,
    }
    return make_dataclass(
        name,
        fields,
        bases=bases,
        namespace=space,
        frozen=True,
        kw_only=True,
        slots=True,
    )
