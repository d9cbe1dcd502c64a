"""Settings of this user's running emulators; they override files."""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from paprle.config.layers import read_command_line
from paprle.contracts.validation.places import Layer, Tree

_PLACE = "emulator of process "


def read_emulated(
    names: Mapping[str, str], typed: Tree, problems: list[str]
) -> list[Layer]:
    """Return a layer each for the emulators of leader and env."""
    layers = []
    for part in ("leader", "env"):
        fitting = [
            (pid, notice)
            for pid, notice in _read_notices()
            if notice.get("part") == part
            and notice.get("name") == names.get(part)
            and notice.get("follower") in ("", names.get("follower"))
            and _is_there(_read_overrides(notice).get(part), typed.get(part))
        ]
        if len(fitting) > 1:
            pids = ", ".join(str(pid) for pid, _ in fitting)
            problems.append(
                f"{part}: expected one emulator of '{names.get(part)}', got processes "
                f"{pids}; end all but one, or type the settings that one has printed"
            )
        elif fitting:
            pid, notice = fitting[0]
            layers.append(Layer(f"{_PLACE}{pid}", _read_overrides(notice, problems)))
    return layers


def _read_overrides(
    notice: Mapping[str, Any], problems: list[str] | None = None
) -> Tree:
    words = [str(word) for word in notice["overrides"]]
    return read_command_line(words, [] if problems is None else problems).layer.tree


def _is_there(emulated: Any, typed: Any) -> bool:
    if isinstance(emulated, Mapping) and isinstance(typed, Mapping):
        shared = emulated.keys() & typed.keys()
        return all(_is_there(emulated[key], typed[key]) for key in shared)
    if emulated is None or typed is None or emulated == typed:
        return True
    return os.path.realpath(str(emulated)) == os.path.realpath(str(typed))


def describe_emulated(sources: Mapping[str, str]) -> list[str]:
    """Return a line for each emulator in use."""
    keys: dict[str, list[str]] = {}
    for key, place in sources.items():
        if place.startswith(_PLACE):
            keys.setdefault(place, []).append(key)
    return [
        f"EMULATED: {', '.join(taken)} come from the {place}"
        for place, taken in keys.items()
    ]


def list_emulated(part: str, name: str) -> list[str]:
    """Return the settings of a device's running emulators."""
    return [
        str(word)
        for _, notice in _read_notices()
        if (notice.get("part"), notice.get("name")) == (part, name)
        for word in notice["overrides"]
    ]


def _read_notices() -> Iterator[tuple[int, dict[str, Any]]]:
    runtime = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    folder = Path(runtime) / f"paprle-emulators-{os.getuid()}"
    try:
        if folder.stat().st_uid != os.getuid():
            return
        paths = sorted(folder.glob("*.json"))
    except OSError:
        return
    for path in paths:
        notice = _read_notice(path)
        if notice is not None:
            yield int(path.stem), notice


def _read_notice(path: Path) -> dict[str, Any] | None:
    if not path.stem.isdecimal():
        return None
    try:
        with path.open(encoding="utf-8") as file:
            if _is_unlocked(file.fileno()):
                return None
            notice = json.load(file)
    except (OSError, ValueError):
        return None
    is_whole = isinstance(notice, dict) and isinstance(notice.get("overrides"), list)
    return notice if is_whole else None


def _is_unlocked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
