"""What the configs of plug-ins have in common; those of laws: ``feedback_settings``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from annotated_types import Gt, Le, Unit, doc

from paprle.contracts.settings import STRICT


@dataclass(frozen=True, kw_only=True)
class FollowerSettings:
    """What every follower's config has: what is known before the follower is loaded.

    It has no slots, so that a config may extend another class besides.
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
    """What the config of a leader has that looks at the session and its cameras."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    fps: Annotated[
        float, Gt(0), Le(200), Unit("Hz"), doc("How often it looks, and acts.")
    ] = 30.0


@dataclass(frozen=True, kw_only=True, slots=True)
class AdvisorSettings:
    """What every advisor's config has."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    rate: Annotated[
        float, Gt(0), Le(200), Unit("Hz"), doc("How often it is asked, at most.")
    ] = 10.0
