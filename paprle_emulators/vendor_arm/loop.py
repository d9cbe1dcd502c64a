"""Loop of an emulated arm behind a controller."""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import ClassVar

from paprle_emulators.cycles import CycleLoop
from paprle_emulators.pace import Pace
from paprle_emulators.vendor_arm.faults import Faults
from paprle_emulators.vendor_arm.journal import Journal
from paprle_emulators.vendor_arm.server import Server


class Loop(CycleLoop):
    """Base of an emulator; a maker fills ``_step`` and ``_note``.

    Attributes:
        flush_every: Cycles between writings of the journal.
    """

    flush_every: ClassVar[int] = 1

    def __init__(
        self, pace: Pace, server: Server, faults: Faults, journal: Journal
    ) -> None:
        super().__init__(pace, server.selector, faults, journal)
        self.server, self.faults, self.journal = server, faults, journal
        self._n_cycles = 0

    @abstractmethod
    def _step(self, now_ns: int, n_skipped: int) -> None:
        """Advance the arm by a cycle, and its clock by skipped ones."""

    @abstractmethod
    def _note(self, now_ns: int) -> None:
        """Write the arm to the journal, after its reports were sent."""

    def _listen(self, timeout: float) -> None:
        self.server.serve(timeout)

    def _follow_order(self) -> None:
        self.server.obey_line()

    def _cycle(self, now_ns: int, n_skipped: int) -> None:
        if self.faults.stalled > 0.0:
            time.sleep(self.faults.stalled)
            self.faults.stalled = 0.0
        self.faults.pass_time(now_ns)
        self.server.obey_line()
        self._step(now_ns, n_skipped)
        self.server.send()
        self._note(now_ns)
        self._n_cycles += 1
        if self._n_cycles % self.flush_every == 0:
            self.journal.flush()
