"""Roles in child processes, and detection of a peer's death.

Children ignore Ctrl-C and hang-ups, see a peer's death as end of file on a pipe, and
report JSON lines on another: ``ready``, ``note``, ``error``.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from paprle.contracts.errors import ConfigError, PaprleError
from paprle.ipc.forking import ForkedProcess, can_fork, fork

WORKSPACE = Path(__file__).resolve().parents[2]
_REPORT_BYTES = 65536
_ADDRESSES = 1 << 30  # [bytes] measured: 800 MiB are enough, 600 are not
_DESCRIPTORS = 64  # measured: enough with a recorder; a start needs more than 32


def ensure_descriptors() -> None:
    """Raise the limit of open files to the session's need.

    Raises:
        ConfigError: If that is not permitted.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= _DESCRIPTORS:
        return
    if hard != resource.RLIM_INFINITY and hard < _DESCRIPTORS:
        raise ConfigError(
            f"session: expected at least {_DESCRIPTORS} open files to be allowed, got "
            f"{hard}; raise the limit: ulimit -n {4 * _DESCRIPTORS}"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (_DESCRIPTORS, hard))


def check_memory() -> None:
    """Check the memory limit, below which native libraries abort.

    Raises:
        ConfigError: If it is too low.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY and soft < _ADDRESSES:
        raise ConfigError(
            f"session: expected at least {_ADDRESSES >> 20} MiB of memory to be "
            f"allowed, got {soft >> 20}; raise the limit: ulimit -v unlimited"
        )


def is_closed(fd: int) -> bool:
    """Return whether a pipe's other end is gone."""
    readable, _, _ = select.select([fd], [], [], 0)
    return bool(readable) and os.read(fd, 1) == b""


@dataclass
class Child:
    """Running role."""

    name: str
    process: subprocess.Popen[bytes] | ForkedProcess
    report_fd: int
    reports: list[dict[str, Any]] = field(default_factory=list)
    is_alive: bool = True
    _rest: bytes = b""

    def poll(self) -> list[dict[str, Any]]:
        """Return new reports without blocking; notice a death."""
        while self.is_alive and select.select([self.report_fd], [], [], 0)[0]:
            data = os.read(self.report_fd, _REPORT_BYTES)
            if not data:
                self.is_alive = False
                break
            *lines, self._rest = (self._rest + data).split(b"\n")
            self.reports += [json.loads(line) for line in lines]
        taken, self.reports = self.reports, []
        return taken

    @property
    def is_stopped(self) -> bool:
        """Whether a signal or debugger stopped it; Linux only."""
        try:
            stat = Path(f"/proc/{self.process.pid}/stat").read_text()
        except OSError:
            return False
        return stat.rpartition(") ")[2][:1] in {"T", "t"}  # spec: proc(5)

    def end(self, timeout: float) -> int | None:
        """Wait for the end; kill after ``timeout``, [s]."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None
        finally:
            if self.process.stdin is not None:
                self.process.stdin.close()


def spawn(
    name: str,
    module: str,
    payload: Mapping[str, Any],
    fds: Mapping[str, int],
    *,
    has_input: bool = False,
) -> Child:
    """Return a starting child; its module calls ``run_role``."""
    _, _, instance = name.partition(":")
    title = f"{module} {instance}".rstrip()
    start = partial(_fork if can_fork() else _execute, title)
    read_end, write_end = os.pipe()
    try:
        text = json.dumps(payload)
        process = start(module, text, {**fds, "report": write_end}, has_input)
    except BaseException:
        os.close(read_end)
        raise
    finally:
        os.close(write_end)
    return Child(name, process, read_end)


def _fork(
    title: str, module: str, text: str, fds: dict[str, int], has_input: bool
) -> ForkedProcess:
    def run() -> int:
        main = import_module(module).main  # a driver is imported by its role alone
        return _host(main, Role(json.loads(text), fds))

    return fork(title, run, fds.values(), has_input=has_input)


def _execute(
    title: str, module: str, text: str, fds: dict[str, int], has_input: bool
) -> subprocess.Popen[bytes]:
    with tempfile.TemporaryFile() as settings:
        settings.write(text.encode())
        settings.seek(0)
        inherited = {**fds, "payload": settings.fileno()}
        return subprocess.Popen(
            [sys.executable, "-m", module, json.dumps(inherited), title],
            stdin=subprocess.PIPE if has_input else subprocess.DEVNULL,
            pass_fds=tuple(inherited.values()),
            cwd=WORKSPACE,  # finds this project's packages; every path is absolute
        )


@dataclass(frozen=True)
class Role:
    """Payload and descriptors by name of a child."""

    payload: dict[str, Any]
    fds: dict[str, int]

    def report(self, event: str, **values: Any) -> None:
        """Send an event to the parent; never raises."""
        line = json.dumps({"event": event, **values}).encode() + b"\n"
        try:
            os.write(self.fds["report"], line)
        except OSError:
            return  # the parent is gone, and its death is noticed elsewhere


def run_role(main: Callable[[Role], None]) -> None:
    """Run a role in a child's main block; exit."""
    fds: dict[str, int] = json.loads(sys.argv[1])
    with os.fdopen(fds["payload"], "rb") as file:
        role = Role(json.loads(file.read()), fds)
    sys.exit(_host(main, role))


def _host(main: Callable[[Role], None], role: Role) -> int:
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    try:
        main(role)
    except PaprleError as err:
        role.report("error", kind=type(err).__name__, message=str(err))
        return 1
    except Exception as err:  # noqa: BLE001 - the last line of defence of a process
        role.report(
            "error",
            kind=type(err).__name__,
            message=f"{type(err).__name__}: {err}",
            traceback=traceback.format_exc(),
        )
        return 1
    return 0
