"""Announces a running emulator to the sessions of the same user and machine.

A notice is a JSON file in the user's runtime folder. The emulator holds a lock on it,
so that a reader can tell a running emulator from one that was killed. The file has the
keys ``part`` (``leader`` or ``env``), ``name``, ``follower`` (empty: any) and
``overrides``, the settings by which a session reaches the emulator.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal


def find_notice_folder() -> Path:
    """Return the folder of notices: in ``XDG_RUNTIME_DIR``, or of this user in /tmp."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    base = Path(runtime) if runtime else Path(tempfile.gettempdir())
    return base / f"paprle-emulators-{os.getuid()}"


@contextlib.contextmanager
def announce(
    part: Literal["leader", "env"],
    name: str,
    overrides: Sequence[str],
    follower: str = "",
) -> Iterator[None]:
    """Publish a notice for the time of the context.

    An emulator that may not write to the runtime folder still runs; its settings are on
    its standard output.

    Args:
        part: Part of the triple that this emulator stands for.
        name: Name of that part's YAML.
        overrides: Settings, ``key=value`` each.
        follower: Name of the robot's YAML; empty: any.
    """
    notice = {"part": part, "name": name, "follower": follower}
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            _write({**notice, "overrides": list(overrides)}, stack)
        yield


def _write(notice: Mapping[str, object], stack: contextlib.ExitStack) -> None:
    """Write a notice and lock it, until the stack is closed."""
    folder = find_notice_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.lstat().st_uid != os.getuid():
        return  # another user's: links in it may lead anywhere
    path = folder / f"{os.getpid()}.json"
    file = stack.enter_context(path.open("w", encoding="utf-8"))
    stack.callback(path.unlink, missing_ok=True)
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    json.dump(notice, file)
    file.flush()
