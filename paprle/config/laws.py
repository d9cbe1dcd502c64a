"""The section ``feedback``: its laws are plug-ins, so its class is made of theirs.

One field a law, named as it, of its own config class: keys, units, bounds and mistakes
are those of any other section.
"""

from __future__ import annotations

from dataclasses import field, make_dataclass
from functools import lru_cache
from typing import Annotated, Any

from annotated_types import doc

from paprle.errors import PaprleError
from paprle.feedback_settings import FeedbackSettings
from paprle.plugins import find_plugin, list_names, load_config_class
from paprle.settings import STRICT

DEFAULT_LAWS = frozenset({"tracking", "task_tracking", "gripper", "wall"})
"""Laws that are on unless the config says ``null``."""


@lru_cache(maxsize=1)
def make_feedback_class() -> type[FeedbackSettings]:
    """Return the settings class with one key for each law there is.

    A law that cannot be loaded is no key, so that it fails those alone who name it.
    """
    laws: list[tuple[str, Any, Any]] = []
    for name in list_names("feedback"):
        try:
            spec = find_plugin("feedback", name)
            config = load_config_class(spec)
        except PaprleError:
            continue
        is_on = name in DEFAULT_LAWS
        hint: Any = config | None
        default = field(default=config() if is_on else None)
        laws.append((name, Annotated[hint, doc(spec.summary)], default))
    laws_class = _make("LawsSettings", laws, "Laws by name.")
    hint_laws: Any = Annotated[laws_class, doc("Laws by name; null switches one off.")]
    made: type[FeedbackSettings] = _make(
        "FeedbackSettings",
        [("laws", hint_laws, field(default_factory=laws_class))],
        FeedbackSettings.__doc__ or "",
        (FeedbackSettings,),
    )
    return made


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
