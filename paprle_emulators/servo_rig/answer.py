"""One packet that a servo sends."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """One status packet.

    Attributes:
        delay: After the previous packet or the instruction, [s].
        servo: Sender's ID; the broadcast ID: several.
    """

    delay: float
    data: bytes
    servo: int
