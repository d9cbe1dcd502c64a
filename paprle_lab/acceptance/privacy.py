"""Removal of personal data."""

from __future__ import annotations

import getpass
import re
import socket
from collections.abc import Sequence
from functools import lru_cache

_DEVICE = r"(?!/dev/(?:tty|video|pts))"  # their names say nothing of a person
_PATTERNS = tuple(
    (re.compile(pattern), word)
    for pattern, word in (
        (r"/dev/serial/by-\w+/[^\s'\"]+", "<port>"),
        (r"\b\w+://\S+", "<address>"),
        (r"\b(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}\b", "<address>"),
        (r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?(?![\d.])", "<address>"),
        (r"(?<![\w:])(?:[0-9a-fA-F]{0,4}:){3,7}[0-9a-fA-F]{1,4}\b", "<address>"),
        (rf"(?<=['\"]){_DEVICE}~?/[^'\"]+(?=['\"])", "<path>"),
        (rf"(?<![\w.<]){_DEVICE}/[\w.@+~-]+(?:/[^\s'\",;:|)\]}}]*)+", "<path>"),
        (r"(?<![\w.<])~/[^\s'\",;:|)\]}]+", "<path>"),
        (r"(?<!\w)[\w.+-]+@[\w-]+(?:\.[\w-]+)+", "<address>"),
        (r"\b(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z0-9]{8,}\b", "<number>"),
        (r"\b[0-9a-f]{12,}\b|\b\d{9,}\b", "<number>"),
    )
)
_SECRET = re.compile(r"(?:^|[._])(?:key|token|password|pin|serial|serials|host|user)$")
_COMMON = frozenset({"localhost", "root", "user", "ubuntu", "robot", "pi", "paprle"})


def clean(text: str) -> str:
    """Return a text without personal data."""
    for pattern, word in _PATTERNS:
        text = pattern.sub(word, text)
    for name in _list_names():
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "<name>", text)
    return text


def clean_setting(key: str, value: object) -> str:
    """Return a setting's value with secrets hidden."""
    return "<hidden>" if _SECRET.search(key) else clean(str(value))


@lru_cache(maxsize=1)
def _list_names() -> Sequence[str]:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user without an entry
        user = ""
    host = socket.gethostname()
    names = {user, host, host.partition(".")[0]} - _COMMON
    return sorted((name for name in names if len(name) > 2), key=len, reverse=True)
