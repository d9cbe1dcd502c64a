"""Table of the kinds of plug-ins.

A new kind is a row, a package beside ``paprle`` and its suite.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from paprle.contracts.plugins import (
    Advisor,
    Camera,
    FeedbackLaw,
    Follower,
    Leader,
    Link,
    Observer,
)

Kind = Literal[
    "leader", "follower", "feedback", "observer", "advisor", "camera", "link"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginKind:
    """One kind of plug-in, in package ``folder`` beside ``paprle``."""

    kind: Kind
    folder: str
    contract: type[Any]
    section: str
    is_many: bool
    title: str


_ALL = (
    PluginKind(
        kind="leader",
        folder="leaders",
        contract=Leader,
        section="leader",
        is_many=True,
        title="leaders (leader=…)",
    ),
    PluginKind(
        kind="follower",
        folder="followers",
        contract=Follower,
        section="env",
        is_many=False,
        title="envs (env=…)",
    ),
    PluginKind(
        kind="feedback",
        folder="feedback",
        contract=FeedbackLaw,
        section="feedback.laws",
        is_many=True,
        title="feedback laws (feedback.laws.…)",
    ),
    PluginKind(
        kind="observer",
        folder="observers",
        contract=Observer,
        section="observers",
        is_many=True,
        title="observers (observers.…)",
    ),
    PluginKind(
        kind="advisor",
        folder="advisors",
        contract=Advisor,
        section="advisors",
        is_many=True,
        title="advisors (advisors.<name>.type=…)",
    ),
    PluginKind(
        kind="camera",
        folder="cameras",
        contract=Camera,
        section="cameras",
        is_many=True,
        title="cameras (cameras.<name>.type=…)",
    ),
    PluginKind(
        kind="link",
        folder="links",
        contract=Link,
        section="link",
        is_many=False,
        title="links (link.type=…)",
    ),
)

KINDS: Mapping[Kind, PluginKind] = MappingProxyType({kind.kind: kind for kind in _ALL})
"""All kinds, by name."""

PLUGIN_FOLDERS = tuple(kind.folder for kind in _ALL)
"""The packages that hold plug-ins."""
