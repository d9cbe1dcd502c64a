"""The follower's host of a link: one gate and session at a time.

The gate brakes when its input is old or this process ends.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections import Counter
from types import FrameType
from typing import Any

from paprle.config import Resolved
from paprle.contracts.errors import ConfigError
from paprle.contracts.types import GateState
from paprle.gate.reason_text import describe_reasons
from paprle.hosts.factories import list_objects, make_payload
from paprle.hosts.operator.status import print_line
from paprle.hosts.plan import make_robot
from paprle.hosts.precompile import compile_once
from paprle.hosts.roles import (
    GATE,
    GATE_RING,
    list_gate_ports,
    list_named_ports,
    list_served,
)
from paprle.hosts.supervisor import Children
from paprle.hosts.two_hosts.config_digest import PERIOD_RATE, SILENCE, identify
from paprle.ipc.loop import DeadlineLoop, Promoter, request_realtime
from paprle.ipc.records import make_gate_layout
from paprle.ipc.stop_reason import read_stop_reason
from paprle.link.follower_end import FollowerEnd
from paprle.link.guards import make_gate_guards
from paprle.link.mirror import make_gate_cut
from paprle.link.opening import make_link, read_key
from paprle.plugins import find_plugin, load_factory

_N_BYES = 5  # chosen: some may be lost
_MOST_TEXT = 1500  # chosen: a report has to fit a datagram
_BYE_NS = 50_000_000  # [ns] chosen: how often the last word is said again
_SILENT_NS = 2_000_000_000  # [ns] chosen: who wants the last records asks for them
_DRAINING_NS = 60_000_000_000  # [ns] chosen: the longest for what found no room
_TELL_NS = 5_000_000_000  # [ns] chosen: refusals come by the hundred


class FollowerHost:
    """One robot, served to successive sessions."""

    def __init__(self, resolved: Resolved) -> None:
        load_factory(find_plugin("follower", resolved.env_type))  # its SDK is there
        robot = make_robot(resolved).info
        self._layout = make_gate_layout(robot, list_objects(resolved))
        self._payload = make_payload(resolved, robot)
        self._specs = list_served(resolved)
        self._ports = list_gate_ports(self._layout)
        if len(self._specs) > 1:
            self._ports |= list_named_ports(resolved, robot)
        self._link = make_link(resolved.link, resolved.follower_name, is_leader=False)
        cut = make_gate_cut(self._layout)
        terms = identify(resolved, robot, self._layout)
        rate = resolved.session.rate
        guards = make_gate_guards(cut, robot)
        self._end = FollowerEnd(read_key(resolved.link), cut, guards, terms, rate=rate)
        self._children: Children | None = None
        self._beside: Children | None = None
        self._n_status = 0
        self._is_let_go = False
        self._ended_ns = self._bye_ns = 0
        self._told: Counter[str] = Counter()
        self._told_ns = -_TELL_NS
        self._has_input = True
        self._signal = self._n_signals = self._n_signals_told = 0

    def run(self) -> int:
        """Serve until a signal comes; return the exit code."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._take_signal)
        self._link.open()
        request_realtime()
        loop, promoter = DeadlineLoop(PERIOD_RATE), Promoter()
        print_line("serving; c and Enter allow a stop to be cleared")
        try:
            while not self._signal or self._is_busy:
                loop.wait()
                promoter.look()  # the link has threads of its own
                self._step(time.monotonic_ns())
        finally:
            self._link.close()
        return 128 + self._signal

    def _step(self, now_ns: int) -> None:
        end = self._end
        self._listen(now_ns)
        self._tell_signals()
        newest = end.receive(self._link.receive(), now_ns)
        if end.is_open and not self._is_busy:
            self._begin()
        if self._ended_ns:
            self._drain(now_ns)
        if self._children is not None:
            for port, record in newest.items():
                self._children.box(port).write(record)
            self._watch(self._children, now_ns)
        self._tell_refused(now_ns)
        end.send_queued(now_ns)
        self._post()

    @property
    def _is_busy(self) -> bool:
        return self._children is not None or bool(self._ended_ns)

    def _begin(self) -> None:
        print_line("a session begins")
        self._children = Children(self._specs, self._ports, self._payload)
        self._n_status, self._is_let_go = 0, False
        self._children.start()

    def _watch(self, children: Children, now_ns: int) -> None:
        end = self._end
        for name, report in children.poll():
            if name == GATE:
                self._let_begin(children, report)
                self._pass_report(report, now_ns)
            else:
                _print_report(name, report)
        box = children.box("status")
        if box.count != self._n_status:
            self._n_status = box.count
            status = box.read()
            if status is not None:
                end.send("status", status.tobytes(), now_ns)
        self._pass_records(children, now_ns)
        is_silent = now_ns - end.heard_ns > SILENCE * 1e9
        if (not end.is_open or is_silent or self._signal) and not self._is_let_go:
            self._is_let_go = True
            for spec in self._specs:
                children.close_pipe(spec.name)  # the gate brakes, and ends
        if not children.is_alive(GATE):
            self._finish(children, now_ns)

    def _pass_records(self, children: Children, now_ns: int) -> None:
        for _, data in children.ring(GATE_RING).drain():
            if self._end.is_recorded:
                self._end.send(GATE_RING, data, now_ns)

    def _let_begin(self, children: Children, report: dict[str, Any]) -> None:
        for spec in self._specs:
            if report["event"] == "ready" and GATE in spec.starts_after:
                children.tell(spec.name, {GATE: report})

    def _pass_report(self, report: dict[str, Any], now_ns: int) -> None:
        keys = ("event", "rate", "lag", "note", "message")
        short = {k: report[k] for k in keys if k in report}
        for key in ("note", "message"):
            if key in short:
                print_line(short[key] or "the gate is ready")
                short[key] = short[key][:_MOST_TEXT]
        self._end.send_report(short, now_ns)

    def _finish(self, children: Children, now_ns: int) -> None:
        children.join(GATE)
        self._pass_records(children, now_ns)
        status = children.box("status").read()
        if status is not None and int(status["state"]) == GateState.STOPPED:
            why = describe_reasons(int(status["latched"]), read_stop_reason(status))
            self._end.locked = (
                f"expected a robot that may move, got one that was stopped: {why}; "
                "look at it, then type c and Enter where it is served"
            )
            print_line(f"stopped: {why}; type c and Enter to allow another session")
        for _ in range(_N_BYES):
            self._end.send_bye(now_ns)
        self._ended_ns = self._bye_ns = now_ns
        self._beside, self._children = children, None
        for spec in self._specs:
            if spec.name != GATE:
                children.close_pipe(spec.name)

    def _drain(self, now_ns: int) -> None:
        end = self._end
        is_silent = now_ns - max(end.heard_ns, self._ended_ns) > _SILENT_NS
        is_over = is_silent or now_ns - self._ended_ns > _DRAINING_NS
        is_over |= self._n_signals > 1
        if not end.is_drained and not is_over:
            if now_ns - self._bye_ns > _BYE_NS:
                self._bye_ns = now_ns
                end.send_bye(now_ns)
            return
        self._post()
        refused = [f"{why} {n}" for why, n in sorted(self._end.refused.items())]
        jumps = self._end.clock.n_jumps
        refused += [f"clock jumped {jumps}"] if jumps else []
        print_line(f"the session is over; refused: {', '.join(refused) or 'nothing'}")
        self._end.refused.clear()
        self._told.clear()
        self._end.close()
        self._ended_ns = 0
        if self._beside is not None:
            for spec in self._specs:
                self._beside.join(spec.name)
            self._beside = None

    def _tell_refused(self, now_ns: int) -> None:
        new = self._end.refused - self._told
        if not new or now_ns - self._told_ns < _TELL_NS:
            return
        self._told_ns, self._told = now_ns, self._end.refused.copy()
        counts = ", ".join(f"{why} {n}" for why, n in sorted(new.items()))
        is_shut = new["wrong key"] and self._children is None
        hint = "; is the key the same on both hosts?" if is_shut else ""
        print_line(f"refused: {counts}{hint}")

    def _post(self) -> None:
        for data in self._end.outbox:
            self._link.send(data)
        self._end.outbox.clear()

    def _listen(self, now_ns: int) -> None:
        if not self._has_input or not select.select([sys.stdin], [], [], 0)[0]:
            return
        data = os.read(sys.stdin.fileno(), 1024)
        self._has_input = bool(data)
        if b"c" in data.split():
            self._end.permit(now_ns)
            print_line("a stop may be cleared within 30 s, and a session may begin")

    def _take_signal(self, number: int, _frame: FrameType | None) -> None:
        self._signal = self._signal or number
        self._n_signals += 1

    def _tell_signals(self) -> None:
        if self._n_signals == self._n_signals_told or not self._is_busy:
            return
        self._n_signals_told = self._n_signals
        if self._n_signals > 1:
            print_line("ending: what was not fetched of the records is given up")
        else:
            print_line(
                "ending: the robot comes to rest, then the other host fetches its last "
                f"records, for {_DRAINING_NS * 1e-9:.0f} s at most; a second signal "
                "gives those up"
            )


def _print_report(name: str, report: dict[str, Any]) -> None:
    for note in (*report.get("notes", ()), report.get("message", "")):
        if note:
            print_line(f"{name}: {note}")


def serve(resolved: Resolved) -> int:
    """Serve the follower to a leader on another host.

    Returns:
        The exit code.

    Raises:
        ConfigError: If something does not fit; nothing was opened.
    """
    if resolved.link.peer is None:
        raise ConfigError("link.peer: expected the leader host's address, got none")
    host = FollowerHost(resolved)
    compile_once()
    return host.run()
