"""Compilation of all kernels before the first session (``make setup``).

``PARTS`` compile in parallel, each in its own cache: Numba's allows one writer per
file. Finished parts survive interruption; one process of a user compiles at a time.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import gc
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numba
import numpy as np

from paprle import compiled
from paprle.config import resolve
from paprle.contracts.kit.work import Work
from paprle.gate.gate import Gate
from paprle.hosts.operator.slow_work import SlowWork
from paprle.hosts.operator.status import print_line
from paprle.hosts.plan import make_plan, make_robot
from paprle.hosts.virtual import VirtualSession
from paprle.ipc.process import WORKSPACE
from paprle.ipc.records import pose_to_row
from paprle.kinematics import IkSolver
from paprle.kinematics.branches import follow_path, list_branches
from paprle.kinematics.robot_solver import LimbSolver
from paprle.session.motion import DesiredMotion
from paprle.session.path_clearance import Ways

_SAMPLE = (
    "leader=autopilot",
    "follower=piper",
    "env=kinematic",
    "session.clock=virtual",
    "session.status=false",
    "session.duration=0.1",
    "session.episodes=1",
)
_MODULE = "paprle.hosts.precompile"  # whose name is another when it is run
# measured: a twentieth of the time goes into colours of messages that nobody sees
_UNCOLOURED = {"NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING": "1"}
_POLL = 0.1  # [s] chosen: a bar that moves is seen to move
_PR_SET_PDEATHSIG = 1  # spec: linux/prctl.h
_PART = "part-"  # chosen: folders of the parts begin so, those of Numba do not


def _compile_gate() -> None:
    resolved = resolve(_SAMPLE)
    robot = make_robot(resolved)
    home = robot.home.copy()  # may be written to, as what a session has
    Gate(robot, resolved.gate, h=0.005)
    ways = Ways(robot, resolved.gate)
    ways.find_contact(home, home)
    ways.measure(home)


def _compile_kinematics() -> None:
    resolved = resolve(_SAMPLE)
    robot = make_robot(resolved)
    (limb,) = robot.limbs.values()
    home, T = robot.home.copy(), limb.fk(limb.home)
    solver = IkSolver(limb)
    list_branches(solver, T, limb.home)
    path = np.array([[t, *pose_to_row(T)] for t in range(2)])
    follow_path(solver, path, limb.home, robot.ddq_max[limb.indices], (1.0, 1.0), 1)
    of_all = LimbSolver(robot, resolved.ik, resolved.gate.position_margin)
    of_all.solve(np.eye(4).reshape(1, 4, 4), np.array([True]), home, home, home)


def _run_briefly() -> None:
    resolved = resolve(_SAMPLE)
    plan = make_plan(resolved)
    DesiredMotion(plan.robot, plan.retargeting, resolved.gate, plan.layout).warm_up()
    with contextlib.redirect_stdout(io.StringIO()):
        VirtualSession(resolved).run()


@contextlib.contextmanager
def _no_collecting() -> Iterator[None]:
    """Disable garbage collection: measured, a fifth of the compile time."""
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_collecting:
            gc.enable()


PARTS: dict[str, Callable[[], None]] = {
    "gate": _compile_gate,
    "kinematics": _compile_kinematics,
}
"""Work of each compiling process, by name; measured: they take equally long."""
# counted: kernels that Python calls in a session; compiled plainly, their parts as well
N_KERNELS = 21 if compiled.PIPELINES else 230


def compile_once() -> None:
    """Compile the kernels missing in the cache."""
    cache = Path(compiled.CACHE)
    done = cache / "complete"
    if done.exists() or numba.config.DISABLE_JIT:
        return
    cache.mkdir(parents=True, exist_ok=True)
    with _alone(cache):
        if not done.exists():
            _compile(cache)
            done.touch()


@contextlib.contextmanager
def _alone(cache: Path) -> Iterator[None]:
    with (cache / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print_line("another process compiles; waiting for it …")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _compile(cache: Path) -> None:
    print_line("compiling, once after an install or update: half a minute or more …")
    begin = time.monotonic()
    for folder in cache.glob(f"{_PART}*"):  # of a process that was killed
        _take_over(folder, cache)
        shutil.rmtree(folder)
    with SlowWork("compiling") as work:
        _compile_beside(list(PARTS), cache, work)
    with _no_collecting():
        _run_briefly()  # the little that is left; it shows what a process failed of
    print_line(f"compiled what a session runs in {time.monotonic() - begin:.0f} s")


@dataclass
class _Helper:
    process: subprocess.Popen[bytes]
    folder: Path

    def end(self, cache: Path) -> None:
        self.process.kill()
        self.process.wait()
        _take_over(self.folder, cache)
        shutil.rmtree(self.folder)


def _compile_beside(waiting: list[str], cache: Path, work: Work) -> None:
    running: list[_Helper] = []
    try:
        while waiting or running:
            while waiting and len(running) < (os.cpu_count() or 1):
                running.append(_start(waiting.pop(0), cache, running))
            for helper in [h for h in running if h.process.poll() is not None]:
                running.remove(helper)
                helper.end(cache)
            n_done = _count_compiled([cache, *(h.folder for h in running)])
            work.count(n_done, N_KERNELS, "kernels")
            time.sleep(_POLL)  # noqa: TID251 - nothing is armed
    finally:
        for helper in running:
            helper.end(cache)


def _start(part: str, cache: Path, running: Iterable[_Helper]) -> _Helper:
    folder = Path(tempfile.mkdtemp(prefix=_PART, dir=cache))
    for source in (cache, *(helper.folder for helper in running)):
        for path in _list_files(source):
            target = folder / path.relative_to(source)
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(path, target)
    process = subprocess.Popen(
        [sys.executable, "-m", _MODULE, part, str(os.getpid())],
        cwd=WORKSPACE,
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder)} | _UNCOLOURED,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return _Helper(process, folder)


def _take_over(source: Path, cache: Path) -> None:
    for index in source.rglob("*.nbi"):
        target = cache / index.relative_to(source)
        if target.exists():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        for data in index.parent.glob(f"{index.stem}.*.nbc"):
            data.replace(target.parent / data.name)
        index.replace(target)


def _count_compiled(folders: Iterable[Path]) -> int:
    return len(
        {
            path.relative_to(folder)
            for folder in folders
            for path in _list_files(folder)
            if path.suffix == ".nbi"
        }
    )


def _list_files(folder: Path) -> list[Path]:
    return [
        path
        for path in folder.glob("*/*.nb[ci]")
        if not path.parent.name.startswith(_PART)
    ]


def _end_with(parent: int) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(1)


def main(words: list[str]) -> int:
    """Compile missing parts, or one; return the exit code."""
    if words:
        _end_with(int(words[1]))
        with _no_collecting():
            PARTS[words[0]]()
        return 0
    try:
        compile_once()
    except KeyboardInterrupt:
        print_line("broken off; what is compiled is kept, the next run goes on from it")
        return 128 + signal.SIGINT
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
