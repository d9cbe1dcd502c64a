"""Guards of incoming records."""

from __future__ import annotations

import math
from collections import Counter
from typing import Protocol

import numpy as np

from paprle.contracts.types import RobotInfo
from paprle.ipc.peer_clock import PeerClock
from paprle.ipc.records import Record, Request
from paprle.link.batch_compression import stretch
from paprle.link.mirror import Cut, Mirror
from paprle.link.packets import DatagramKind, Packet

_PLAUSIBLE = math.pi  # [rad] chosen: how far beyond its limits a target may be
_PERMIT_NS = 30_000_000_000  # [ns] chosen: to walk from the robot to the leader
_N_SENT = 4096  # chosen: set-points under way, 20 s of them


class Hearing(Protocol):
    """Receiving end of a record."""

    clock: PeerClock
    refused: Counter[str]

    def is_unheard(self, now_ns: int) -> bool:
        """Return whether the peer has missed this end for too long."""


class Guard(Protocol):
    """Guard of one port."""

    def accept(self, end: Hearing, packet: Packet, now_ns: int) -> Record | None:
        """Return a record in local time; None if refused or kept."""

    def permit(self, now_ns: int) -> None:
        """Allow remote resets for a while, from beside the robot (E1)."""

    def forget(self) -> None:
        """Forget the ended session."""


def make_gate_guards(cut: Cut, robot: RobotInfo) -> dict[str, Guard]:
    """Return the guards of the gate's input."""
    commands = {k: one for k, one in cut.items() if one.kind is DatagramKind.SETPOINT}
    return {port: SetpointGuard(mirror, robot) for port, mirror in commands.items()}


class SetpointGuard:
    """Guard of set-points: finite, near the limits, and of known age."""

    def __init__(self, mirror: Mirror, robot: RobotInfo) -> None:
        self._dtype = mirror.dtype or np.dtype([])
        self._low, self._high = robot.q_min - _PLAUSIBLE, robot.q_max + _PLAUSIBLE
        self._permitted_ns = -_PERMIT_NS
        self.forget()

    def forget(self) -> None:
        """Forget the session's resets."""
        self._n_asked = self._n_passed = 0

    def permit(self, now_ns: int) -> None:
        """Allow remote resets for a while."""
        self._permitted_ns = now_ns

    def accept(self, end: Hearing, packet: Packet, now_ns: int) -> Record | None:
        """Return a set-point in local time, if accepted."""
        found = stretch(packet.payload, self._dtype.itemsize, 1)
        if not found:
            end.refused["malformed"] += 1
            return None
        record: Record = np.frombuffer(found[0], self._dtype)[0].copy()
        return self._bring(end, record, packet, now_ns)

    def _bring(
        self, end: Hearing, record: Record, packet: Packet, now_ns: int
    ) -> Record | None:
        q, dq = record["q_des"], record["dq_des"]
        if int(record["request"]) not in set(Request):
            end.refused["malformed"] += 1
            return None
        is_near = ((self._low <= q) & (q <= self._high)).all()  # NaN is not
        if not (is_near and np.isfinite(dq).all()):
            end.refused["not plausible"] += 1
            return None
        age_ns = end.clock.compute_age(packet, int(record["source_ns"]), now_ns)
        if age_ns is None:  # what the gate has grows old meanwhile
            end.refused["of unknown age"] += 1
            return None
        if end.is_unheard(now_ns):  # as old as the state that it goes by
            end.refused["no state came back"] += 1
            age_ns = max(age_ns, end.clock.find_echo_age(now_ns))
        record["at_ns"] = end.clock.to_arrival(int(record["at_ns"]))
        record["stamp_ns"], record["source_ns"] = now_ns, now_ns - age_ns
        record["n_resets"] = self._pass_resets(end, int(record["n_resets"]), now_ns)
        return record

    def _pass_resets(self, end: Hearing, n_asked: int, now_ns: int) -> int:
        if n_asked > self._n_asked:
            self._n_asked = n_asked
            if now_ns - self._permitted_ns <= _PERMIT_NS:
                self._n_passed += 1
            else:
                end.refused["reset from afar"] += 1
        return self._n_passed


class SentSetpoints:
    """Posting times of set-points, by number."""

    def __init__(self) -> None:
        self._sent = np.zeros((_N_SENT, 2), dtype=np.int64)  # number, stamp

    def note(self, record: Record) -> None:
        """Keep the time of a sent set-point."""
        seq = int(record["seq"])
        self._sent[seq % _N_SENT] = seq, int(record["stamp_ns"])

    def fill(self, status: Record) -> None:
        """Write the stamp of a status's set-point."""
        seq = int(status["setpoint_seq"])
        number, stamp_ns = self._sent[seq % _N_SENT]
        status["setpoint_ns"] = stamp_ns if seq and number == seq else 0
