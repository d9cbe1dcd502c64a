"""Holders of a port, by Linux's table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_TABLE = Path("/proc")  # spec: proc(5)
_LONGEST = 60  # chosen: of a command in a message


def describe_holders(path: str, table: Path = _TABLE) -> str:
    """Return a device's visible holders, or "".

    Root alone sees those of other users.
    """
    found = [f"{pid} ({_read_command(table / pid)})" for pid in _list(path, table)]
    return ", ".join(found)


def _list(path: str, table: Path) -> Iterator[str]:
    device = Path(path).resolve()
    for process in sorted(table.glob("[0-9]*"), key=lambda one: int(one.name)):
        if any(_points_to(link, device) for link in _glob(process / "fd")):
            yield process.name


def _glob(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:  # another user's, or it has ended
        return []


def _points_to(link: Path, device: Path) -> bool:
    try:
        return link.readlink() == device
    except OSError:
        return False


def _read_command(process: Path) -> str:
    try:
        words = (process / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return "ended since"
    return b" ".join(words).decode(errors="replace").strip()[:_LONGEST]
