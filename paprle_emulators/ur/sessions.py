"""Script, primary and dashboard clients."""

from __future__ import annotations

from collections.abc import Callable

from paprle_emulators.ur.controller import (
    VERSION,
    Controller,
    RobotMode,
    Runtime,
    SafetyMode,
)
from paprle_emulators.ur.dashboard import GREETING, Dashboard
from paprle_emulators.ur.primary import make_state, make_version

_MOST_SCRIPT = 1 << 20  # [characters] chosen: 25 of ur_rtde's
_STATE_EVERY = 50  # [cycles] spec: the primary interface sends at 10 Hz


class ScriptSession:
    """A client of port 30002 or 30003."""

    def __init__(self, start: Callable[[str], None]) -> None:
        self._start, self._rest = start, ""

    def take(self, data: bytes) -> bytes:
        """Start complete scripts; ValueError without end."""
        self._rest += data.decode("utf-8", errors="replace")
        while "\n" in self._rest:
            end = self._find_end()
            if end < 0:
                break
            text, self._rest = self._rest[:end], self._rest[end:]
            if text.strip():
                self._start(text)
        if len(self._rest) > _MOST_SCRIPT:
            raise ValueError("script: expected an end")
        return b""

    def make_data(self) -> bytes:
        """Return nothing."""
        return b""

    def leave(self) -> None:
        """Drop an incomplete script."""
        self._rest = ""

    def _find_end(self) -> int:
        first, _, _ = self._rest.partition("\n")
        if not first.startswith(("def ", "sec ")):
            return len(first) + 1
        end = self._rest.find("\nend\n")
        return end if end < 0 else end + len("\nend\n")


class PrimarySession(ScriptSession):
    """A client of port 30001: scripts, and messages of stops."""

    def __init__(self, controller: Controller) -> None:
        super().__init__(controller.start_script)
        self._controller, self._n_told = controller, controller.reports.n
        self._is_greeted = False

    def take(self, data: bytes) -> bytes:
        """Start complete scripts; greet with the version."""
        super().take(data)
        if self._is_greeted:
            return b""
        self._is_greeted = True
        return make_version(self._controller.time, VERSION)

    def make_data(self) -> bytes:
        """Return new messages, and the state at its rate."""
        controller = self._controller
        told = controller.reports.take(self._n_told)
        self._n_told = controller.reports.n
        if controller.n_cycles % _STATE_EVERY == 0:
            told += self._make_state()
        return told

    def _make_state(self) -> bytes:
        c = self._controller
        is_on = c.robot_mode is not RobotMode.POWER_OFF
        flags = (
            True,
            True,
            is_on,
            bool(c.safety_bits & 1 << 7),
            c.safety_mode is SafetyMode.PROTECTIVE_STOP,
            c.runtime is Runtime.PLAYING,
            c.runtime is Runtime.PAUSED,
        )
        return make_state(c.time, int(c.robot_mode), flags, c.slider, c.scaling)


class DashboardSession:
    """A client of port 29999."""

    def __init__(self, dashboard: Dashboard, note: Callable[[str], None]) -> None:
        self._dashboard, self._note = dashboard, note
        self._rest, self._is_greeted = b"", False

    def take(self, data: bytes) -> bytes:
        """Return complete lines' answers, at first a greeting."""
        answers = b"" if self._is_greeted else GREETING
        self._is_greeted = True
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            text = line.decode("utf-8", errors="replace")
            self._note(f"dashboard: {text.strip()}")
            answers += self._dashboard.answer(text).encode() + b"\n"
        return answers

    def make_data(self) -> bytes:
        """Return nothing."""
        return b""

    def leave(self) -> None:
        """Drop an incomplete line."""
        self._rest = b""
