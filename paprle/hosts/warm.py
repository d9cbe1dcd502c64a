"""Compile every kernel once, before anything is armed: the first run of an install."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numba

from paprle.compiled import CACHE
from paprle.config import resolve
from paprle.gate.gate import Gate
from paprle.hosts.plan import make_plan, make_robot
from paprle.hosts.status import print_line
from paprle.hosts.virtual import VirtualSession
from paprle.ipc.process import WORKSPACE
from paprle.kinematics import IkSolver
from paprle.session.motion import Motion

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
    print_line("compiling, once after an install or update: one to two minutes …")
    done.parent.mkdir(parents=True, exist_ok=True)
    resolved = resolve(_SAMPLE)
    with _gate_beside():
        plan = make_plan(resolved)
        Motion(plan.robot, plan.retargeting, resolved.gate, plan.layout).warm_up()
        IkSolver(next(iter(plan.robot.limbs.values())))
    with contextlib.redirect_stdout(io.StringIO()):
        VirtualSession(resolved).run()
    done.touch()


@contextlib.contextmanager
def _gate_beside() -> Iterator[None]:
    """Compile the gate in another process meanwhile: two thirds of all there is.

    It has a cache of its own until it has ended: Numba's is not made for two that write
    into the same file. Whatever it did not compile is compiled here afterwards.
    """
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        helper = subprocess.Popen(
            [sys.executable, "-m", __name__],
            cwd=WORKSPACE,
            env=os.environ | {"NUMBA_CACHE_DIR": folder},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield
            helper.wait()
        finally:
            helper.kill()
            helper.wait()
        _take_over(Path(folder), Path(CACHE))


def _take_over(source: Path, cache: Path) -> None:
    """Move the kernels that a cache lacks there, each index after what it names."""
    for index in source.rglob("*.nbi"):
        target = cache / index.relative_to(source)
        if target.exists():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        for data in index.parent.glob(f"{index.stem}.*.nbc"):
            data.replace(target.parent / data.name)
        index.replace(target)


if __name__ == "__main__":
    _resolved = resolve(_SAMPLE)
    Gate(make_robot(_resolved), _resolved.gate)
