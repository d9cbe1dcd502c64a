"""Settings, answers and orders."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any, NoReturn

Settings = Mapping[str, Sequence[str]]
Order = Callable[..., object]
"""Executes an order with its other members as keywords; a mapping is its answer."""


def take_settings(
    words: Sequence[str], keys: Sequence[str], needed: str = ""
) -> dict[str, list[str]]:
    """Return the values of ``key=value`` words; ``fault`` may repeat.

    Raises:
        ValueError: If a word is invalid, or the ``needed`` key missing.
    """
    settings: dict[str, list[str]] = {key: [] for key in keys}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in settings:
            raise ValueError(f"expected {', '.join(keys)} with '=', got '{word}'")
        settings[key].append(value)
    for key, values in settings.items():
        if len(values) > 1 and key != "fault":
            raise ValueError(f"expected {key} once, got {', '.join(values)}")
    if needed and not settings[needed]:
        raise ValueError(f"expected {needed}=<name>, got none; --help lists the keys")
    return settings


def read_one(settings: Settings, key: str, default: str) -> str:
    """Return a setting's value."""
    return settings[key][0] if settings[key] else default


def read_number(settings: Settings, key: str, default: float) -> float:
    """Return a setting's number.

    Raises:
        ValueError: If not a number.
    """
    word = read_one(settings, key, str(default))
    try:
        return float(word)
    except ValueError as err:
        raise ValueError(f"{key}: expected a number, got '{word}'") from err


def say(line: str) -> None:
    """Print a line; ignore a closed pipe."""
    try:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _End(BaseException):
    """Request to end."""


def serve(endpoint: Mapping[str, Any], orders: Mapping[str, Order]) -> None:
    """Print the endpoint, then execute orders until a signal."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)
    try:
        say(json.dumps({"ready": True, **endpoint}))
        for line in sys.stdin or ():
            if line.strip():
                say(json.dumps(obey(line, orders)))
        threading.Event().wait()
    except _End:
        return


def obey(line: str, orders: Mapping[str, Order]) -> dict[str, Any]:
    """Execute an order; return its answer."""
    try:
        order = json.loads(line)
        if not isinstance(order, dict):
            raise ValueError("expected an object")
        name = "fault" if "fault" in order else str(order.pop("cmd", ""))
        if name not in orders:
            raise ValueError(f"expected 'cmd' or 'fault' of {', '.join(orders)}")
        result = orders[name](**order)
    except (ValueError, TypeError, KeyError, OSError) as err:
        return {"ok": False, "error": f"order {line.strip()}: {err}"}
    return {"ok": True, **(result if isinstance(result, dict) else {})}


def _end(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise _End
