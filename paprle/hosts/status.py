"""What the operator sees: a live line while it runs, a summary at the end."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from paprle.contracts.text import make_printable
from paprle.contracts.types import GateState
from paprle.gate.reasons import Reason, from_bits
from paprle.hosts.terminal import HELP
from paprle.session.core import Core

_PERIOD = 0.2  # [s] chosen: faster than this nobody reads
_WIDTH = 79  # chosen: of a terminal that does not say how wide it is
_QUIET = {Reason.ACCELERATION, Reason.VELOCITY, Reason.DT_CHANGED, Reason.LATE}


def print_line(text: str, *, is_error: bool = False) -> None:
    """Write a line; a closed terminal is nobody's failure."""
    stream = sys.stderr if is_error else sys.stdout
    text = make_printable(text)
    try:
        stream.write(("\r\x1b[K" if stream.isatty() else "") + text.rstrip() + "\n")
        stream.flush()
    except OSError:
        # what could not be written must not fail again when the process exits
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except ValueError:
        return


class StatusLine:
    """One line, rewritten five times a second by a thread of its own."""

    def __init__(self, compose: Callable[[], str], *, enabled: bool) -> None:
        self._compose = compose
        self._is_terminal = sys.stdout is not None and sys.stdout.isatty()
        self._enabled = enabled
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._last = ""
        self._lines: deque[str] = deque()

    def open(self) -> None:
        """Start showing."""
        if not self._enabled:
            return
        if self._is_terminal:
            print_line(HELP)
        self._thread = threading.Thread(target=self._show, name="status")
        self._thread.start()

    def tell(self, text: str) -> None:
        """Show a line that stays; the caller never waits for a slow terminal."""
        self._lines.append(text)

    def close(self) -> None:
        """Show what was told and not shown yet, and stop; may be called twice."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=1.0)
            self._thread = None
        self._write_told()

    def _write_told(self) -> None:
        while self._lines:
            print_line(self._lines.popleft(), is_error=True)

    def _show(self) -> None:
        """Rewrite the line on a terminal; write each change of state in a log.

        On a terminal a change that does not fit the line is written too, in full.
        """
        try:
            while not self._stop.wait(_PERIOD):
                self._write_told()
                text = self._compose()
                width = _find_width() if self._is_terminal else 0
                state = text.split(" ", 1)[0]
                if state != self._last and len(text) > width:
                    print_line(text)
                self._last = state
                if self._is_terminal:
                    sys.stdout.write("\r\x1b[K" + text[:width])
                    sys.stdout.flush()
        except (OSError, ValueError):
            return  # the terminal is gone; the session goes on


def _find_width() -> int:
    """Return how much is rewritten in place: a line that wraps would not be."""
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns
    except OSError:
        columns = 0
    return columns - 1 if columns > 1 else _WIDTH


def compose_line(core: Core, n_overruns: int, recording: str) -> str:
    """Say in one line how it goes and what to do next.

    Args:
        core: The session.
        n_overruns: Deadlines missed so far.
        recording: How the recording goes; empty when there is none.

    Returns:
        The line: its first word is the session's state, then what to know or do.
    """
    gate_state, acting = core.motion.gate_view
    parts = [f"{core.state.name:<9}", *filter(None, [core.note])]
    if gate_state is not GateState.ENGAGED:
        parts.append(f"gate {gate_state.name}")
    error = core.motion.err_pos
    if np.isfinite(error).any():
        parts.append(f"IK error {np.nanmax(error) * 1e3:.2f} mm")
    reasons = [r.name.lower() for r in from_bits(acting) if r not in _QUIET]
    if reasons:
        parts.append("gate: " + ", ".join(reasons))
    if core.stuck.limbs:
        parts.append(f"leader stuck: {', '.join(core.stuck.limbs)}")
    if n_overruns:
        parts.append(f"{n_overruns} overruns")
    if recording:
        parts.append(recording)
    return " · ".join(parts)


def summarise(core: Core, n_overruns: int, recording: dict[str, Any]) -> Iterator[str]:
    """Say how it went, in a few lines."""
    reason = core.end_reason or "before it began"
    why = f" ({core.note})" if core.note and reason not in {"done", "quit"} else ""
    yield f"ended: {reason}{why}, {core.episodes.number} episode(s)"
    counts = core.motion.gate_counts
    acted = [f"{r.name.lower()} {counts[r]}" for r in Reason if counts[r]]
    if acted:
        yield "gate acted (periods): " + ", ".join(acted)
    if core.leaders.refused:
        refused = [f"{name} {n}" for name, n in sorted(core.leaders.refused.items())]
        yield "samples refused: " + ", ".join(refused)
    if core.stuck.n_times:
        yield f"leader stuck (times): {core.stuck.n_times}"
    if n_overruns:
        yield f"missed deadlines: {n_overruns}"
    for path in recording.get("episodes", ()):
        yield f"recorded: {path}"
    if recording.get("dropped"):
        lost = [f"{name} {n}" for name, n in sorted(recording["dropped"].items())]
        yield f"records lost, the disk was too slow: {', '.join(lost)}"
    for text in recording.get("failures", ()):
        yield f"RECORDING FAILED: {text}"
    if recording.get("episodes"):
        yield f"look at it with: paprle evaluate {recording['episodes'][-1]}"
