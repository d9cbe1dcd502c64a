"""Description of a remote robot."""

from __future__ import annotations

from paprle.contracts.session_view import MirroredRobot

_SLOW = 0.1  # [s] chosen: an age that is worth a word


def describe_mirror(one: MirroredRobot) -> str:
    """Return a mirror's description."""
    if one.is_lost:
        return f"Not heard of for {one.age:.1f} s: shown where it was last"
    words = "Green: as predicted" if one.is_predicted else "Green: as confirmed"
    if one.age > _SLOW:
        words += f", confirmed {1e3 * one.age:.0f} ms ago"
    return words + (f" · held: {', '.join(one.held)}" if one.held else "")
