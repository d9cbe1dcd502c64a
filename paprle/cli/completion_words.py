"""Completion of a shell's words, without heavy imports."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from paprle import __version__

COMPLETE = "__complete"
"""The word in place of a verb by which a shell asks."""

PARTS = ("leader", "follower", "env")

_MAKE_INDEX = (
    "import sys; sys.path = [folder for folder in sys.path if folder]; "
    "from paprle.cli.completion import write_index; write_index()"
)
"""Makes the index without the folder of the prompt, whose modules may be anybody's."""


def find_index() -> Path:
    """Return the index file of this version and config path."""
    folders = os.environ.get("PAPRLE_CONFIG_PATH", "")
    key = f"{__version__} {sys.version_info[:2]} {__file__} {folders}"
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    digest = hashlib.sha256(key.encode()).hexdigest()[:16]
    return home / "paprle" / f"completion_{digest}.json"


def complete(words: Sequence[str]) -> list[str]:
    """Return the candidates for the last word; none for files.

    A word that ends in ``=`` or ``.`` continues.
    """
    try:
        index = json.loads(find_index().read_text("utf-8"))
    except (OSError, ValueError):
        subprocess.Popen(
            [sys.executable, "-c", _MAKE_INDEX],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return []
    typed = words[-1] if words else ""
    found = _list_words(index, list(words[:-1]), typed)
    return sorted({_shorten(word, typed) for word in found if word.startswith(typed)})


def _list_words(
    index: Mapping[str, Any], before: list[str], typed: str
) -> Iterator[str]:
    if not before:
        yield from (*index["verbs"], "--help", "--version")
        return
    verb = index["verbs"].get(before[0])
    if verb is None:
        return
    if typed.startswith("-"):
        yield from verb["options"]
        return
    yield from verb["words"]
    if not verb["has_settings"]:
        return
    for part in PARTS:
        yield from (f"{part}={name}" for name in _list_names(index, part))
    for key, values in _list_keys(index, before).items():
        yield from (f"{key}={value}" for value in values or ("",))


def _list_names(index: Mapping[str, Any], part: str) -> set[str]:
    yamls = (p for f in index["folders"] for p in (Path(f) / part).glob("*.yaml"))
    # shells insert a word as it is: no name has a letter that means something to them
    names = (path.stem for path in yamls if path.stem.replace("_", "a").isalnum())
    return {*index["plugins"].get(part, ()), *names}


def _list_keys(index: Mapping[str, Any], before: list[str]) -> dict[str, list[str]]:
    keys = dict(index["keys"][""])
    for word in before:
        part, _, name = word.partition("=")
        plugin = index["types"].get(part, {}).get(name, name)
        keys |= index["keys"].get(f"{part}:{plugin}", {})
    return keys


def _shorten(word: str, typed: str) -> str:
    key, equals, _ = word.partition("=")
    if len(typed) > len(key):
        return word
    dot = key.find(".", len(typed))
    return key[: dot + 1] if dot >= 0 else key + equals
