"""Script and dashboard clients."""

from __future__ import annotations

from collections.abc import Callable

from paprle_emulators.ur.dashboard import GREETING, Dashboard

_MOST_SCRIPT = 1 << 20  # [characters] chosen: 25 of ur_rtde's


class ScriptSession:
    """A client of port 30001, 30002 or 30003."""

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
