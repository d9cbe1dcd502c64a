"""Compile every kernel once, before anything is armed: the first run of an install."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import numba

from paprle.compiled import CACHE
from paprle.config import resolve
from paprle.session.status import print_line
from paprle.session.virtual import VirtualSession

_SAMPLE = (
    "leader=autopilot",
    "follower=piper",
    "env=kinematic",
    "session.clock=virtual",
    "session.status=false",
    "session.duration=0.1",
    "session.episodes=1",
)


def compile_once() -> None:
    """Compile what a session runs, where this user's cache does not hold it yet.

    Kernels are the same for every robot, so a short session with any of them, in this
    process and in virtual time, meets them all; those of other leaders while it warms
    up. The roles of a live session then find them in the cache, and start at once
    instead of all compiling the same.
    """
    done = Path(CACHE) / "complete"
    if done.exists() or numba.config.DISABLE_JIT:
        return
    print_line("compiling, once after an install or update: up to a minute …")
    with contextlib.redirect_stdout(io.StringIO()):
        session = VirtualSession(resolve(_SAMPLE))
        session.core.motion.warm_up()
        session.run()
    done.parent.mkdir(parents=True, exist_ok=True)
    done.touch()
