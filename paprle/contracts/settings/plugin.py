"""Settings common to plug-ins of a kind; those of laws: ``feedback_settings``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from annotated_types import Gt, Le, Unit, doc

from paprle.contracts.settings.core import STRICT


@dataclass(frozen=True, kw_only=True)
class FollowerSettings:
    """Settings of every follower, known before the follower is loaded.

    The class has no slots, so that a config can also extend another class.
    """

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    rate: Annotated[
        float | None,
        Gt(0),
        Unit("Hz"),
        doc("How often the robot is written to; as often as the session when absent."),
    ] = None

    @property
    def objects(self) -> tuple[str, ...]:
        """Names of the objects whose poses its states may hold."""
        return ()


@dataclass(frozen=True, kw_only=True)
class SightSettings:
    """Settings of a leader that looks at the session and its cameras."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    fps: Annotated[
        float, Gt(0), Le(200), Unit("Hz"), doc("How often it looks, and acts.")
    ] = 30.0


@dataclass(frozen=True, kw_only=True, slots=True)
class AdvisorSettings:
    """Settings of every advisor."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    rate: Annotated[
        float, Gt(0), Le(200), Unit("Hz"), doc("How often it is asked, at most.")
    ] = 10.0
