"""What may be said below ``observers.view``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.motion_cues import CueSettings
from paprle.contracts.settings import STRICT


@dataclass(frozen=True, kw_only=True, slots=True)
class ViewConfig:
    """Where the page is, and what it shows."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    port: Annotated[
        int,
        Ge(1024),
        Le(65500),
        doc("Port on 127.0.0.1; the next free one where it is taken."),
    ] = 8080
    rate: Annotated[
        float, Gt(0), Le(60), Unit("Hz"), doc("How often the picture changes.")
    ] = 30.0
    cues: Annotated[
        CueSettings | None,
        doc("What shows where axes lead, and suggestions; null: nothing does."),
    ] = field(default_factory=CueSettings)
    trail: Annotated[
        float, Ge(0), Le(120), Unit("s"), doc("How long end-effectors leave a trail.")
    ] = 10.0
