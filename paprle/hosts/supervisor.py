"""The child processes of a session."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from paprle.contracts.errors import SessionError, StartRefused
from paprle.contracts.far_leader import FAR
from paprle.hosts.roles import RoleSpec
from paprle.ipc.mailbox import Mailbox, Ring
from paprle.ipc.ports import OpenPort, Port, make_ports
from paprle.ipc.process import Child, spawn

_SESSIONS_SIGNALS = (
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTSTP,
    signal.SIGHUP,
    signal.SIGTERM,
)
Report = dict[str, Any]


@dataclass
class Running:
    """A child process and the pipe whose end-of-file asks it to end.

    Attributes:
        alive_fd: Write end, this session's alone; negative once closed.
    """

    spec: RoleSpec
    child: Child
    alive_fd: int


class Children:
    """The processes of a session and their ports."""

    def __init__(
        self,
        specs: Sequence[RoleSpec],
        ports: Mapping[str, Port],
        payload: Mapping[str, Any],
    ) -> None:
        self.specs = tuple(specs)
        self.ports: dict[str, OpenPort] = make_ports(ports)
        self.running: dict[str, Running] = {}
        self.reports: list[tuple[str, Report]] = []
        self._ready: dict[str, Report] = {}
        self._payload = dict(payload)
        self._warnings: list[str] = []
        self._far: list[Report] = []
        # each holds the only write end, so its end of life closes the pipe
        awaited = {name for spec in self.specs for name in spec.starts_after}
        self._lives = {name: os.pipe() for name in sorted(awaited)}

    def box(self, port: str) -> Mailbox:
        """Return a mailbox."""
        return cast(Mailbox, self.ports[port])

    def ring(self, port: str) -> Ring:
        """Return a ring."""
        return cast(Ring, self.ports[port])

    def is_read(self, port: str) -> bool:
        """Whether a running process reads a port."""
        return any(port in role.spec.reads for role in self.running.values())

    def start(self, *, has_keys: bool = False) -> None:
        """Start all processes, the awaited ones first."""
        for spec in sorted(self.specs, key=lambda spec: len(spec.starts_after)):
            self._start(spec, has_input=spec.takes_keys and has_keys)

    def _start(self, spec: RoleSpec, *, has_input: bool) -> None:
        read_end, write_end = os.pipe()
        fds = {name: self.ports[name].fd for name in (*spec.reads, *spec.writes)}
        fds["session_alive"] = read_end
        fds |= {f"{name}_alive": self._lives[name][0] for name in spec.starts_after}
        if spec.name in self._lives:
            fds["lives"] = self._lives[spec.name][1]
        # What the terminal, or whoever ends a group of processes, sends to all is the
        # session's to take: it must not kill a child that still imports, nor keep a
        # gate from braking or a recorder from writing what it has.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _SESSIONS_SIGNALS)
        try:
            child = spawn(
                spec.name,
                spec.module,
                {**self._payload, "name": spec.name},
                fds,
                has_input=has_input or bool(spec.starts_after),
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(read_end)
        if spec.name in self._lives:
            os.close(self._lives[spec.name][1])
        self.running[spec.name] = Running(spec, child, write_end)

    def wait_ready(
        self,
        timeout: float,
        must_stop: Callable[[], bool],
        tell: Callable[[str], None],
    ) -> dict[str, Report]:
        """Return all ready reports; incomplete if the operator gave up.

        ``timeout`` is for each role, [s].

        Raises:
            StartRefused: If all those not ready gave a reason.
            SessionError: If any failed, died or took too long.
        """
        start = _Start(self.specs, timeout)
        while (waiting := start.list_waiting()) and not must_stop():
            for spec in start.take_beginners():
                if spec.starts_after:
                    self.tell(spec.name, {k: start.ready[k] for k in spec.starts_after})
            for name, report in self.poll():
                start.take(name, report)
            for warning in self.take_warnings():
                tell(warning)
            start.judge({name for name in waiting if not self.is_alive(name)})
            time.sleep(0.005)  # noqa: TID251 - starting up, nothing is moving
        if start.failures:
            told = "\n".join(f"{name}: {why}" for name, why in start.failures.items())
            is_refused = start.failures.keys() == start.refused
            raise StartRefused(told) if is_refused else SessionError(told)
        self._ready = start.ready
        return start.ready

    def restart(self, name: str) -> None:
        """Restart a role, killed if it still runs."""
        role = self.running.pop(name, None)
        if role is not None:
            if role.alive_fd >= 0:
                os.close(role.alive_fd)
            role.child.process.kill()  # takes hold once its disk lets go of it
            os.close(role.child.report_fd)
        spec = next(spec for spec in self.specs if spec.name == name)
        self._start(spec, has_input=False)
        if spec.starts_after:
            self.tell(name, {k: self._ready[k] for k in spec.starts_after})

    def tell(self, name: str, values: Mapping[str, Any]) -> None:
        """Write the awaited values to a role's input."""
        stdin = self.running[name].child.process.stdin
        with contextlib.suppress(BrokenPipeError):  # its death is noticed elsewhere
            if stdin is not None:
                stdin.write(json.dumps(values).encode() + b"\n")
                stdin.flush()

    def poll(self) -> list[tuple[str, Report]]:
        """Return the new reports; never blocks."""
        taken = []
        for name, role in self.running.items():
            taken += [(name, report) for report in role.child.poll()]
        self._far += [report for _, report in taken if report["event"] == FAR]
        taken = [told for told in taken if told[1]["event"] != FAR]
        self.reports += taken
        self._warnings += [
            f"{name}: {report['message']}"
            for name, report in taken
            if report["event"] == "trouble"
        ]
        return taken

    def take_warnings(self) -> list[str]:
        """Return new non-fatal warnings."""
        taken, self._warnings = self._warnings, []
        return taken

    def take_far(self) -> list[Report]:
        """Return new measurements of operators' hosts."""
        taken, self._far = self._far, []
        return taken

    def count_dropped(self) -> int:
        """Return the number of records dropped by rings."""
        rings = [port for port in self.ports.values() if isinstance(port, Ring)]
        return sum(sum(ring.dropped.values()) for ring in rings)

    def is_alive(self, name: str) -> bool:
        """Whether a role runs."""
        role = self.running.get(name)
        return role is not None and role.child.is_alive

    def list_key_fds(self) -> list[int]:
        """Return the inputs of roles that take keys."""
        takers = [role for role in self.running.values() if role.spec.takes_keys]
        stdins = [role.child.process.stdin for role in takers]
        return [stdin.fileno() for stdin in stdins if stdin is not None]

    def describe_death(self, name: str) -> str:
        """Return a role's cause of death."""
        said = [
            report["message"]
            for who, report in self.reports
            if who == name and report["event"] == "error"
        ]
        return f"{name}: the process ended: {said[-1] if said else 'it was killed'}"

    def close_pipe(self, name: str) -> None:
        """Ask a role to end; ``join`` waits."""
        role = self.running[name]
        if role.alive_fd >= 0:
            os.close(role.alive_fd)
            role.alive_fd = -1

    def is_stopped(self, name: str) -> bool:
        """Whether a signal or debugger has stopped a role."""
        role = self.running.get(name)
        return role is not None and role.child.is_stopped

    def join(self, name: str, timeout: float | None = None) -> int | None:
        """End a role; return its exit code, None if killed; ``timeout`` in [s]."""
        if name not in self.running:
            return 0
        self.close_pipe(name)
        role = self.running.pop(name)
        code = role.child.end(role.spec.shutdown if timeout is None else timeout)
        self.reports += [(name, report) for report in role.child.poll()]
        os.close(role.child.report_fd)
        return code


class _Start:
    def __init__(self, specs: Iterable[RoleSpec], timeout: float) -> None:
        self.ready: dict[str, Report] = {}
        self.failures: dict[str, str] = {}
        self.refused: set[str] = set()
        self._specs, self._timeout = tuple(specs), timeout
        self._ends: dict[str, float] = {}

    def list_waiting(self) -> list[str]:
        return [
            spec.name
            for spec in self._specs
            if spec.name not in self.ready.keys() | self.failures.keys()
            and not self.failures.keys() & set(spec.starts_after)
        ]

    def take_beginners(self) -> list[RoleSpec]:
        beginners = [
            spec
            for spec in self._specs
            if spec.name not in self._ends
            and self.ready.keys() >= set(spec.starts_after)
        ]
        end = time.monotonic() + self._timeout
        self._ends |= {spec.name: end for spec in beginners}
        return beginners

    def take(self, name: str, report: Report) -> None:
        if report["event"] == "ready":
            self.ready[name] = report
        elif report["event"] == "error":
            self.failures[name] = report["message"]
            self.refused |= set() if "traceback" in report else {name}

    def judge(self, dead: Iterable[str]) -> None:
        now = time.monotonic()
        waiting = set(self.list_waiting())
        for name in waiting & set(dead):
            self.failures[name] = "it died while starting"
        for name in waiting - self.failures.keys():
            if now > self._ends.get(name, now):
                what = f"expected it to be ready within {self._timeout:g} [s]"
                self.failures[name] = what
