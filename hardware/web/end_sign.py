"""End of an episode by all bare hands' pinch (P34).

A driving hand gives no sign; after a release it must open first.
"""

from __future__ import annotations

from collections.abc import Iterable

from paprle.hardware.web.hand import HandReading

HOLD_NS = 3_000_000_000
"""Time for which all hands pinch, [ns]. spec: requirements.md P34."""
PINCHED, APART = 0.025, 0.05
"""Gaps between the tips of thumb and index, below which a pinch begins and beyond which
it ends, [m]. spec: P34 has 5 cm; chosen: half of it to begin with."""
_UNSEEN_NS = 200_000_000  # chosen: what is silent for longer is not being held


class EndSign:
    """Progress of the sign: ``share``, 0 … 1."""

    def __init__(self) -> None:
        self.share = 0.0
        self._has_opened = False
        self._since_ns: int | None = None
        self._seen_ns = 0

    def update(self, hands: Iterable[HandReading], now_ns: int) -> None:
        """Update from all hands at a time, [ns]."""
        hands = list(hands)
        is_silent = now_ns - self._seen_ns > _UNSEEN_NS
        self._seen_ns = now_ns
        gaps = [one.gap for one in hands if one.is_tracked and not one.is_held]
        known = [gap for gap in gaps if gap is not None]
        if len(known) < len(hands):
            self.forget()
            return
        self._has_opened |= min(known) > APART
        bound = PINCHED if self._since_ns is None else APART
        if is_silent or not self._has_opened or max(known) > bound:
            self._since_ns, self.share = None, 0.0
            return
        self._since_ns = now_ns if self._since_ns is None else self._since_ns
        self.share = min((now_ns - self._since_ns) / HOLD_NS, 1.0)

    def forget(self) -> None:
        """Restart; hands must open first."""
        self.share, self._has_opened, self._since_ns = 0.0, False, None
