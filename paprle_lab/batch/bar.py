"""Progress of a batch on a terminal or in a log."""

from __future__ import annotations

import sys
import time

from paprle_lab.batch.driver import Account

_WIDTH = 24  # chosen: letters of the bar
_QUICK, _SLOW = 0.2, 30.0  # [s] chosen: between looks at a terminal, and in a log


class Bar:
    """Writes progress to stderr at a limited rate."""

    def __init__(self) -> None:
        """Begin now."""
        self._is_terminal = sys.stderr.isatty()
        self._began = self._told = time.monotonic()

    def __call__(self, account: Account) -> None:
        """Show the progress if due."""
        now = time.monotonic()
        if now - self._told < (_QUICK if self._is_terminal else _SLOW):
            return
        self._told = now
        line = describe(account, now - self._began)
        sys.stderr.write(f"\r\x1b[K{line}" if self._is_terminal else f"{line}\n")
        sys.stderr.flush()

    def close(self) -> None:
        """Write an empty line."""
        if self._is_terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def describe(account: Account, seconds: float) -> str:
    """Return the progress line after some seconds."""
    n_here = account.n_done + account.n_failed
    n_over = account.n_before + n_here
    full = round(_WIDTH * n_over / account.n)
    bar = "█" * full + "·" * (_WIDTH - full)
    line = f"{bar} {n_over}/{account.n} cells"
    if n_here and seconds > 0:
        left = (account.n - n_over) * seconds / n_here
        line += f", {n_here / seconds:.1f} a second, {_say_time(left)} left"
    if account.n_failed:
        line += f", {account.n_failed} failed"
    return line


def _say_time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
