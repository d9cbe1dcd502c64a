"""Findings of the classifier on a limb, in words."""

from __future__ import annotations

from typing import NamedTuple

from paprle.recording.shortage import describe_distance

NAN = float("nan")
_ON_TIME = 0.0


class Finding(NamedTuple):
    """A reason why a limb is not where it is asked to be.

    Attributes:
        limb: The limb.
        kind: ``travel``, ``bound``, ``reach``, ``velocity``, ``acceleration``,
            ``gate``, ``stall`` or ``lag``.
        cause: In words: ``joint4 at its limit``.
        pos: Distance, [m]; NaN: not known.
        rot: Angle, [rad]; NaN: not known.
        is_stuck: No motion from this posture leads nearer.
    """

    limb: str
    kind: str
    cause: str
    pos: float = NAN
    rot: float = NAN
    is_stuck: bool = False

    def __str__(self) -> str:
        """Return it in a few words: ``joint4 at its limit, 42 mm short``."""
        short = describe_distance(self.pos, self.rot)
        return f"{self.cause}, {short} short" if short else self.cause


class Cut(NamedTuple):
    """Share of a limb's asked motion that is cut.

    Attributes:
        what: What cuts it: ``velocity of joint2``.
        share: How much of the asked way was not gone, 0 … 1; 0: it catches up.
    """

    what: str
    share: float

    def __str__(self) -> str:
        """Return it in words: ``velocity of joint2, 12 %``."""
        if self.share == _ON_TIME:
            return f"{self.what}, catching up"
        return f"{self.what}, {100.0 * self.share:.0f} %"


class Verdict(NamedTuple):
    """Findings of one look.

    Attributes:
        findings: Why limbs are not where they are asked to be.
        cuts: What is cut of their motion.
        is_driven: A leader drives a limb.
        is_away: A limb is beside all that it was asked for in the last half second.
        pause: Why nobody drives: ``clutch`` or ``silence``; empty: somebody does, or
            no episode goes on.
    """

    findings: tuple[Finding, ...] = ()
    cuts: tuple[Cut, ...] = ()
    is_driven: bool = False
    is_away: bool = False
    pause: str = ""
