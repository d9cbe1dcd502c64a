"""Place in a control table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Register:
    """Address and size, [bytes]."""

    address: int
    size: int
