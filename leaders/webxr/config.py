"""What the YAML of a headset may say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Gt, Le, MinLen, Unit, doc

from hardware.web.settings import WebSettings
from paprle.contracts.settings import STRICT


@dataclass(frozen=True, kw_only=True, slots=True)
class WebxrConfig(WebSettings):
    """Where the page is served, and which hands it tells of."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    hands: Annotated[
        tuple[Literal["left", "right"], ...],
        MinLen(1),
        doc("Hands that move; with two, both hold their dead-men, or neither moves."),
    ] = ("right",)
    rate: Annotated[
        float, Gt(0), Le(240), Unit("Hz"), doc("Nominal rate of its messages.")
    ] = 72.0  # chosen: a Quest's display as it is delivered

    def __post_init__(self) -> None:
        if len(set(self.hands)) != len(self.hands):
            raise ValueError("each hand once")
