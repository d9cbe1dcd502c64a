"""Findings of the classifier."""

from __future__ import annotations

from typing import NamedTuple

from paprle.recording.shortage import describe_distance

NAN = float("nan")
_ON_TIME = 0.0


class TrackingFinding(NamedTuple):
    """A cause of a limb's tracking error, [m] and [rad], NaN: unknown.

    Attributes:
        kind: ``travel``, ``bound``, ``reach``, ``velocity``, ``acceleration``,
            ``gate``, ``stall`` or ``lag``.
        is_stuck: No motion from this posture leads nearer.
    """

    limb: str
    kind: str
    cause: str
    pos: float = NAN
    rot: float = NAN
    is_stuck: bool = False

    def __str__(self) -> str:
        short = describe_distance(self.pos, self.rot)
        return f"{self.cause}, {short} short" if short else self.cause


class Saturation(NamedTuple):
    """Missing share of a limb's motion, 0 … 1; 0: it catches up."""

    what: str
    share: float

    def __str__(self) -> str:
        if self.share == _ON_TIME:
            return f"{self.what}, catching up"
        return f"{self.what}, {100.0 * self.share:.0f} %"


class TrackingVerdict(NamedTuple):
    """Findings of one look.

    Attributes:
        is_away: A limb is off all targets of the last half second.
        pause: ``clutch`` or ``silence`` without a driver, or "".
    """

    findings: tuple[TrackingFinding, ...] = ()
    cuts: tuple[Saturation, ...] = ()
    is_driven: bool = False
    is_away: bool = False
    pause: str = ""
