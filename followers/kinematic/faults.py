"""Emulated faults, named as in PX4's fault injection."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from paprle.contracts.plugins import Follower
from paprle.contracts.types import (
    ClosePolicy,
    FollowerInfo,
    FollowerState,
    Vec,
    readonly,
)

_SLOW_NS = 200_000_000  # [ns] spec: safety.md section 4, row 5: 5 Hz
_DELAY_NS = 300_000_000  # [ns] spec: safety.md section 4, row 5: 300 ms
_ENTRY = re.compile(r"(\w+)@(\d+(?:\.\d+)?)(?:-(\d+(?:\.\d+)?))?")

STATE_KINDS = (
    "off",
    "stuck",
    "garbage",
    "permuted",
    "degrees",
    "slow",
    "delayed",
    "protective_stop",
)
_MOTIONS: dict[str, Callable[[Vec, Vec], Vec]] = {
    "ignoring": lambda _, q_fault: q_fault,
    "opposite": lambda q_cmd, q_fault: 2.0 * q_fault - q_cmd,
    "double": lambda q_cmd, q_fault: 2.0 * q_cmd - q_fault,
}
KINDS = (*STATE_KINDS, *_MOTIONS)


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault; times count from the first write."""

    kind: str
    begin_ns: int
    end_ns: int | None

    @classmethod
    def parse(cls, text: str) -> Fault:
        """Return a fault of ``stuck@2.0`` or ``stuck@2.0-2.5``.

        Raises:
            ValueError: If the text or kind is invalid.
        """
        match = _ENTRY.fullmatch(text)
        if match is None or match[1] not in KINDS:
            raise ValueError(
                f"faults as KIND@SECONDS or KIND@BEGIN-END, not '{text}'; "
                f"kinds: {', '.join(KINDS)}"
            )
        end_ns = None if match[3] is None else round(float(match[3]) * 1e9)
        return cls(match[1], round(float(match[2]) * 1e9), end_ns)


class FollowerFaults:
    """Faults of states and commands over time."""

    def __init__(self, entries: Sequence[str]) -> None:
        self._faults = tuple(Fault.parse(entry) for entry in entries)
        self.reset()

    def reset(self) -> None:
        """Restart before the first write."""
        self._first_write_ns: int | None = None
        self._last: FollowerState | None = None
        self._past: deque[FollowerState] = deque()
        self._q_fault: Vec | None = None

    def change_state(self, state: FollowerState, now_ns: int) -> FollowerState:
        """Return the state with active faults."""
        if not self._faults:
            return state
        self._remember(state)
        kinds = self._active(STATE_KINDS, now_ns)
        for kind in kinds:
            state = self._spoil(kind, state, now_ns)
        if not kinds:
            self._last = state
        return state

    def change_command(self, q_cmd: Vec, q: Vec, now_ns: int) -> Vec:
        """Return the command with active faults, at position ``q``."""
        if not self._faults:
            return q_cmd
        if self._first_write_ns is None:
            self._first_write_ns = now_ns
        kinds = self._active(tuple(_MOTIONS), now_ns)
        if not kinds:
            self._q_fault = None
            return q_cmd
        if self._q_fault is None:
            self._q_fault = q.copy()
        for kind in kinds:
            q_cmd = _MOTIONS[kind](q_cmd, self._q_fault)
        return q_cmd

    def _active(self, kinds: tuple[str, ...], now_ns: int) -> list[str]:
        if self._first_write_ns is None:
            return []
        t_ns = now_ns - self._first_write_ns
        return [
            fault.kind
            for fault in self._faults
            if fault.kind in kinds
            and fault.begin_ns <= t_ns
            and (fault.end_ns is None or t_ns < fault.end_ns)
        ]

    def _remember(self, state: FollowerState) -> None:
        self._past.append(state)
        while len(self._past) > 1 and (
            state.stamp_ns - self._past[1].stamp_ns >= _DELAY_NS
        ):
            self._past.popleft()

    def _spoil(self, kind: str, state: FollowerState, now_ns: int) -> FollowerState:
        last = state if self._last is None else self._last
        if kind == "off":
            return last
        if kind == "stuck":
            zeros = readonly(np.zeros_like(last.dq))
            return replace(last, stamp_ns=state.stamp_ns, dq=zeros)
        if kind == "delayed":
            return self._past[0]
        if kind == "slow":
            if now_ns - last.stamp_ns >= _SLOW_NS:
                self._last = last = state
            return last
        return _SPOILERS[kind](state)


_SPOILERS: dict[str, Callable[[FollowerState], FollowerState]] = {
    "garbage": lambda state: replace(state, q=readonly(np.full_like(state.q, np.nan))),
    "permuted": lambda state: replace(
        state, q=readonly(state.q[::-1]), dq=readonly(state.dq[::-1])
    ),
    "degrees": lambda state: replace(
        state, q=readonly(np.rad2deg(state.q)), dq=readonly(np.rad2deg(state.dq))
    ),
    "protective_stop": lambda state: replace(state, stop_reason="protective stop"),
}


class FaultyFollower(Follower):
    """Any follower, with faults."""

    def __init__(self, inner: Follower, faults: Sequence[str]) -> None:
        super().__init__(inner.config, inner.robot, inner.clock)
        self._inner = inner
        self._faults = FollowerFaults(faults)

    def open(self) -> FollowerInfo:
        """Open the inner follower."""
        self._faults.reset()
        return self._inner.open()

    def read(self) -> FollowerState:
        """Return the inner state with faults."""
        return self._faults.change_state(self._inner.read(), self.clock())

    def write(self, q_cmd: Vec) -> None:
        """Send the command with faults."""
        q = self._inner.read().q
        self._inner.write(self._faults.change_command(q_cmd, q, self.clock()))

    def close(self, policy: ClosePolicy = "hold") -> None:
        """Close the inner follower."""
        self._inner.close(policy)
