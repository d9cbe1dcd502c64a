"""Network and power of an emulated controller."""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass(kw_only=True)
class Line:
    """Condition of cable and power; faults write it, the server obeys it.

    Attributes:
        is_cut: Nothing passes; connections stay.
        is_silent: Reports are not sent.
        share: Of lost reports, 0 … 1.
        delay_ns: Of all sent data, [ns].
        is_off: Without power.
        n_boots: Switchings of power.
    """

    is_cut: bool = False
    is_silent: bool = False
    share: float = 0.0
    delay_ns: int = 0
    is_off: bool = False
    n_boots: int = 0
    _random: random.Random = field(default_factory=lambda: random.Random(0))

    def loses(self) -> bool:
        """Return whether the next report is lost."""
        return self.share > 0.0 and self._random.random() < self.share

    def mend(self) -> None:
        """End the faults of the cable."""
        self.is_cut = self.is_silent = False
        self.share, self.delay_ns = 0.0, 0

    def switch(self, *, is_on: bool) -> None:
        """Switch power; connections are reset."""
        self.is_off, self.n_boots = not is_on, self.n_boots + 1
