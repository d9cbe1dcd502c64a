"""Gate reports on a link, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_MOST = 1e9  # chosen: no rate and no lag is near it
_NUMBERS, _TEXTS = ("rate", "lag"), ("event", "note", "message")


def pack_report(report: Mapping[str, Any]) -> bytes:
    """Return a report as bytes."""
    return json.dumps(dict(report)).encode()


def read_json(data: bytes) -> Any:
    """Return a peer's JSON value; None if invalid."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def unpack_report(data: bytes) -> dict[str, Any] | None:
    """Return a report's known fields; None if invalid."""
    found = read_json(data)
    if not isinstance(found, dict) or not isinstance(found.get("event"), str):
        return None
    texts = {name: found[name] for name in _TEXTS if name in found}
    numbers = {name: found[name] for name in _NUMBERS if name in found}
    is_whole = all(isinstance(text, str) for text in texts.values())
    is_whole &= all(map(_is_number_or_unknown, numbers.values()))
    return {**texts, **numbers} if is_whole else None


def _is_number_or_unknown(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value is None
    return -_MOST < value < _MOST
