"""Hosting a role in a child process, and noticing the death of a peer.

Children are started afresh (never forked), import only their role, ignore Ctrl-C and
hang-ups (the session tells them what to do) and learn of a peer's death by end of file
on a pipe, however that peer died. A child reports to its parent in JSON lines on a pipe
of its own: ``ready``, ``note``, ``error``.
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
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paprle.contracts.errors import ConfigError, PaprleError, SessionError

WORKSPACE = Path(__file__).resolve().parents[2]
_REPORT_BYTES = 65536
_ADDRESSES = 1 << 30  # [bytes] measured: 800 MiB are enough, 600 are not
_DESCRIPTORS = 64  # measured: enough with a recorder; a start needs more than 32


def ensure_descriptors() -> None:
    """Let this process open as many files as a session needs.

    Raises:
        ConfigError: If it may not; nothing has been started.
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
    """See that this process may have as much memory as a session needs.

    Libraries below Python end the process without a word of ours where they get none.

    Raises:
        ConfigError: If it may not.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY and soft < _ADDRESSES:
        raise ConfigError(
            f"session: expected at least {_ADDRESSES >> 20} MiB of memory to be "
            f"allowed, got {soft >> 20}; raise the limit: ulimit -v unlimited"
        )


def is_closed(fd: int) -> bool:
    """Whether the other end of this pipe is gone; the pipe carries no data."""
    readable, _, _ = select.select([fd], [], [], 0)
    return bool(readable) and os.read(fd, 1) == b""


@dataclass
class Child:
    """A running role.

    Attributes:
        name: Role, for messages.
        process: The process.
        reports: Lines the child reported and nobody took yet.
        is_alive: False once the report pipe has ended.
    """

    name: str
    process: subprocess.Popen[bytes]
    report_fd: int
    reports: list[dict[str, Any]] = field(default_factory=list)
    is_alive: bool = True
    _rest: bytes = b""

    def poll(self) -> list[dict[str, Any]]:
        """Take new reports without blocking, and notice the child's death."""
        while self.is_alive and select.select([self.report_fd], [], [], 0)[0]:
            data = os.read(self.report_fd, _REPORT_BYTES)
            if not data:
                self.is_alive = False
                break
            *lines, self._rest = (self._rest + data).split(b"\n")
            self.reports += [json.loads(line) for line in lines]
        taken, self.reports = self.reports, []
        return taken

    def wait_ready(self, timeout: float) -> dict[str, Any]:
        """Wait for the ``ready`` report.

        Args:
            timeout: How long, [s].

        Returns:
            What the child said when it was ready.

        Raises:
            SessionError: If it failed, died or took too long; carries its own words.
        """
        end = time.monotonic() + timeout
        while self.is_alive and time.monotonic() < end:
            select.select([self.report_fd], [], [], 0.05)
            for report in self.poll():
                if report["event"] == "ready":
                    return report
                if report["event"] == "error":
                    raise SessionError(f"{self.name}: {report['message']}")
        state = f"took longer than {timeout:g} [s]" if self.is_alive else "died"
        raise SessionError(f"{self.name}: expected it to get ready, but it {state}")

    def end(self, timeout: float) -> int | None:
        """Wait for the process to end by itself; kill it when it does not."""
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
    """Start ``python -m module`` with a JSON payload and inherited descriptors.

    Args:
        name: Role, for messages.
        module: A module of this project whose main block calls ``run_role``.
        payload: JSON-able settings.
        fds: Descriptors the child inherits, by name.
        has_input: Give it a pipe as standard input.

    Returns:
        The child, still starting.
    """
    with tempfile.TemporaryFile() as settings:
        settings.write(json.dumps(payload).encode())
        settings.seek(0)
        read_end, write_end = os.pipe()
        inherited = {**fds, "payload": settings.fileno(), "report": write_end}
        process = subprocess.Popen(
            [sys.executable, "-m", module, json.dumps(inherited)],
            stdin=subprocess.PIPE if has_input else subprocess.DEVNULL,
            pass_fds=tuple(inherited.values()),
            cwd=WORKSPACE,  # finds this project's packages; every path is absolute
        )
        os.close(write_end)
    return Child(name, process, read_end)


@dataclass(frozen=True)
class Role:
    """What a child process was given.

    Attributes:
        payload: The settings.
        fds: The descriptors by name.
    """

    payload: dict[str, Any]
    fds: dict[str, int]

    def report(self, event: str, **values: Any) -> None:
        """Tell the parent, if it still lives; never blocks for long, never raises."""
        line = json.dumps({"event": event, **values}).encode() + b"\n"
        try:
            os.write(self.fds["report"], line)
        except OSError:
            return  # the parent is gone, and its death is noticed elsewhere


def run_role(main: Callable[[Role], None]) -> None:
    """Run a role: the main block of a child's module. Exits the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    fds: dict[str, int] = json.loads(sys.argv[1])
    with os.fdopen(fds["payload"], "rb") as file:
        role = Role(json.loads(file.read()), fds)
    try:
        main(role)
    except PaprleError as err:
        role.report("error", kind=type(err).__name__, message=str(err))
        sys.exit(1)
    except Exception as err:  # noqa: BLE001 - the last line of defence of a process
        role.report(
            "error",
            kind=type(err).__name__,
            message=f"{type(err).__name__}: {err}",
            traceback=traceback.format_exc(),
        )
        sys.exit(1)
    sys.exit(0)
