"""The child processes of a live session: shared memory, pipes, start and farewell."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from paprle.contracts.errors import SessionError
from paprle.contracts.types import Feedback
from paprle.hosts.factories import RING_BYTES
from paprle.ipc.feedback_record import FEEDBACK, pack_feedback
from paprle.ipc.mailbox import Mailbox, Ring
from paprle.ipc.process import Child, spawn
from paprle.ipc.records import Layout
from paprle.retargeting.anchor_record import make_anchors_dtype, pack_anchors
from paprle.retargeting.state import Anchors

_MODULES = {
    "gate": "paprle.hosts.gate",
    "leader": "paprle.hosts.leader",
    "recorder": "paprle.hosts.recorder",
    "observer": "paprle.hosts.observer",
}
_TERMINAL_SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGHUP)
_FAREWELL = {
    "gate": 8.0,
    "leader": 2.0,
    "recorder": 10.0,
    "observer": 2.0,
}  # [s] chosen: K4 time-outs


@dataclass
class Role:
    """A child and the pipe whose end tells it to go.

    Attributes:
        child: The process.
        life_fd: Write end that only this session holds; closing it says goodbye, and
            so does the death of the session.
    """

    child: Child
    life_fd: int


class Roles:
    """Everything a live session shares with its children.

    Attributes:
        samples: Leader → session.
        feedback: Session → leader.
        anchors: Session → leader, what engaging fixed.
        setpoints: Session → gate.
        status: Gate → session; the leader and the observer read it too.
        ring: Session → recorder.
        ticks: Session → observer.
        running: Roles started and not yet said goodbye to.
        reports: What they said, newest last, with their name.
    """

    def __init__(
        self, layout: Layout, payload: dict[str, Any], *, is_linked: bool = False
    ) -> None:
        """Make what is shared.

        Args:
            layout: What crosses process borders.
            payload: What every role is given.
            is_linked: The gate is on another host; its stand-in is started for it.
        """
        self._modules = dict(_MODULES)
        if is_linked:
            self._modules["gate"] = "paprle.hosts.remote_gate"
        self.samples = Mailbox(layout.sample)
        self.feedback = Mailbox(FEEDBACK)
        self.anchors = Mailbox(make_anchors_dtype(len(layout.limbs)))
        self.setpoints = Mailbox(layout.setpoint)
        self.status = Mailbox(layout.status)
        self.ring = Ring(RING_BYTES)
        self.ticks = Mailbox(layout.tick)
        self.running: dict[str, Role] = {}
        self.reports: list[tuple[str, dict[str, Any]]] = []
        self._gate_ring = Ring(RING_BYTES)
        self._payload = payload
        self._posted: Anchors | None = None
        self._warnings: list[str] = []
        # the gate holds the only write end, so its end of life closes the pipe
        self._gate_alive, self._gate_lives = os.pipe()

    def start(self, name: str, *, has_input: bool = False) -> None:
        """Start a role; it is ready when ``wait_ready`` says so."""
        read_end, write_end = os.pipe()
        fds = {"session_alive": read_end}
        if name == "gate":
            fds |= {"setpoint": self.setpoints.fd, "status": self.status.fd}
            fds |= {"gate_ring": self._gate_ring.fd, "gate_lives": self._gate_lives}
        elif name == "leader":
            fds |= {"sample": self.samples.fd, "feedback": self.feedback.fd}
            fds |= {"anchors": self.anchors.fd, "status": self.status.fd}
        elif name == "observer":
            fds |= {"ticks": self.ticks.fd, "status": self.status.fd}
        else:
            fds |= {"session_ring": self.ring.fd, "gate_ring": self._gate_ring.fd}
            fds["gate_alive"] = self._gate_alive
        # what the terminal sends to all is the session's to take: a Ctrl-C while a
        # child still imports must not kill it, nor Ctrl-Z or Ctrl-\ ever stop a gate
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _TERMINAL_SIGNALS)
        try:
            child = spawn(
                name, self._modules[name], self._payload, fds, has_input=has_input
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(read_end)
        if name == "gate":
            os.close(self._gate_lives)
        self.running[name] = Role(child, write_end)

    def wait_ready(
        self,
        names: tuple[str, ...],
        timeout: float,
        must_stop: Callable[[], bool],
        tell: Callable[[str], None],
    ) -> dict[str, dict[str, Any]]:
        """Wait until these roles are ready, and raise once with all that failed.

        Args:
            names: Roles.
            timeout: How long, [s].
            must_stop: Whether the operator has given up.
            tell: Shows the operator what keeps them waiting.

        Returns:
            What each said when it was ready; incomplete when the operator gave up.

        Raises:
            SessionError: If any failed, died or took too long.
        """
        ready: dict[str, dict[str, Any]] = {}
        failures: dict[str, str] = {}
        end = time.monotonic() + timeout
        while len(ready) + len(failures) < len(names) and not must_stop():
            for name, report in self.poll():
                if report["event"] == "ready":
                    ready[name] = report
                elif report["event"] == "error":
                    failures[name] = report["message"]
            for warning in self.take_warnings():
                tell(warning)
            for name in set(names) - ready.keys() - failures.keys():
                if not self.is_alive(name):
                    failures[name] = "it died while starting"
                elif time.monotonic() > end:
                    failures[name] = f"expected it to be ready within {timeout:g} [s]"
            time.sleep(0.01)  # noqa: TID251 - starting up, nothing is moving
        if failures:
            raise SessionError("\n".join(f"{k}: {v}" for k, v in failures.items()))
        return ready

    def tell(self, name: str, **values: Any) -> None:
        """Tell a role with input what it waits for."""
        stdin = self.running[name].child.process.stdin
        with contextlib.suppress(BrokenPipeError):  # its death is noticed elsewhere
            if stdin is not None:
                stdin.write(json.dumps(values).encode() + b"\n")
                stdin.flush()

    def poll(self) -> list[tuple[str, dict[str, Any]]]:
        """Take what the roles reported since the last call; never blocks."""
        taken = []
        for name, role in self.running.items():
            taken += [(name, report) for report in role.child.poll()]
        self.reports += taken
        self._warnings += [
            f"{name}: {report['message']}"
            for name, report in taken
            if report["event"] == "trouble"
        ]
        return taken

    def take_warnings(self) -> list[str]:
        """Return what a role lost and went on without, once."""
        taken, self._warnings = self._warnings, []
        return taken

    def post_feedback(self, feedback: Feedback, anchors: Anchors | None) -> None:
        """Tell the leader; anchors first, which change with each engaging alone."""
        if anchors is not None and anchors is not self._posted:
            self.anchors.write(pack_anchors(anchors))
            self._posted = anchors
        self.feedback.write(pack_feedback(feedback))

    def count_lost(self) -> int:
        """Return how many records found no room on their way to the recorder."""
        rings = (self.ring, self._gate_ring)
        return sum(sum(ring.dropped.values()) for ring in rings)

    def drain_gate(self) -> list[bytes]:
        """Return the gate's periods since the last call, where no recorder does."""
        return [data for _, data in self._gate_ring.drain()]

    def is_alive(self, name: str) -> bool:
        """Whether a role runs."""
        role = self.running.get(name)
        return role is not None and role.child.is_alive

    def get_keys_fd(self) -> int | None:
        """Where the operator's unbound keys go: the leader's standard input."""
        role = self.running.get("leader")
        stdin = None if role is None else role.child.process.stdin
        return None if stdin is None else stdin.fileno()

    def let_go(self, name: str) -> None:
        """Say goodbye to a role without waiting for it; ``dismiss`` still has to."""
        role = self.running[name]
        if role.life_fd >= 0:
            os.close(role.life_fd)
            role.life_fd = -1

    def dismiss(self, name: str) -> int | None:
        """Say goodbye to a role and wait for it; None when it had to be killed."""
        if name not in self.running:
            return 0
        self.let_go(name)
        role = self.running.pop(name)
        code = role.child.end(_FAREWELL[name])
        self.reports += [(name, report) for report in role.child.poll()]
        os.close(role.child.report_fd)
        return code
