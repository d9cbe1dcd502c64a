"""YAML settings of a Vision Pro."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, MinLen, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.sound import SoundSettings


@settings
class VisionproConfig(SoundSettings):
    """Address of the headset, and the leading hands."""

    host: Annotated[str, MinLen(1), doc("The address that its app shows.")]
    port: Annotated[int, Ge(1), Le(65_535), doc("Of the app.")] = (
        12345  # spec: avp_stream, streamer.py
    )
    hands: Annotated[
        tuple[Literal["left", "right"], ...],
        MinLen(1),
        doc("Hands that move; with two, both grip, or neither moves."),
    ] = ("right",)
    rate: Annotated[
        float, Gt(0), Le(240), Unit("Hz"), doc("Nominal rate of its messages.")
    ] = 90.0  # spec: ARKit's hand tracking at the display's rate
    timeout: Annotated[
        float, Gt(0), Le(60), Unit("s"), doc("How long it may take to answer at first.")
    ] = 5.0

    def __post_init__(self) -> None:
        if len(set(self.hands)) != len(self.hands):
            raise ValueError("each hand once")
