"""Mimic joints."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Mimic:
    """A joint that follows another: q = multiplier · q_source + offset."""

    joint: str
    source: str
    multiplier: float
    offset: float
