"""Notices of running emulators for local sessions of the user.

A notice is a locked JSON file with ``part`` (``leader`` or ``env``), ``name``,
``follower`` (empty: any) and ``overrides``, a session's settings.
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
    """Return the folder, in ``XDG_RUNTIME_DIR`` or /tmp."""
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
    """Publish a notice, if the folder is writable."""
    notice = {"part": part, "name": name, "follower": follower}
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            _write({**notice, "overrides": list(overrides)}, stack)
        yield


def _write(notice: Mapping[str, object], stack: contextlib.ExitStack) -> None:
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
