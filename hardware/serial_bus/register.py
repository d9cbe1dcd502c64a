"""Place of a value in a servo's control table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Register:
    """A place in the control table: address and size, [bytes]."""

    address: int
    size: int
