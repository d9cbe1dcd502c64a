"""State of a link as text."""

from __future__ import annotations

import time

from paprle.config import Resolved
from paprle.ipc.mailbox import Mailbox
from paprle.reconstruction.mirror_quality import MirrorQuality


class LinkWatch:
    """Monitors gate statuses that cross a link."""

    def __init__(self, resolved: Resolved, status: Mailbox) -> None:
        self._status = status
        self._is_afar = resolved.is_gate_afar
        self._quality = MirrorQuality(resolved.gate.stale_after)

    def describe(self) -> str:
        """Return the link's state; empty without a link."""
        status = self._status.read() if self._is_afar else None
        if status is not None:
            used_ns = int(status["setpoint_ns"])
            now_ns = time.monotonic_ns()
            self._quality.update(now_ns, self._status.count, used_ns)
        return self._quality.describe()
