"""A servo's packet."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """One status packet.

    Attributes:
        delay: After the previous packet or instruction, [s].
        servo: Sender; the broadcast ID: several.
    """

    delay: float
    data: bytes
    servo: int
