"""Texts for the press by which a person engages."""

from __future__ import annotations

from paprle.contracts.operator.actions import KEY_CAPS
from paprle.contracts.types import LeaderInfo

_PRESS = f"press {KEY_CAPS['engage']}"


def tell_press(leader: LeaderInfo) -> str:
    """Return the text on how to engage."""
    return ", or ".join(filter(None, (leader.engage_hint, _PRESS)))


def tell_wait(leader: LeaderInfo, *, is_spent: bool) -> str:
    """Return the text on the wait for a leader or a new press."""
    if not is_spent:
        return "waiting for the leader"
    return f"the dead-man is held already: {_tell_anew(leader)} to start"


def tell_again(leader: LeaderInfo, *, has_let_go: bool) -> str:
    """Return the text on how to resume."""
    hint = leader.engage_hint
    if has_let_go:
        return f"{hint or 'engage again'} to go on"
    if leader.has_deadman:
        return f"{_tell_anew(leader)} to go on"
    return hint or f"let go and engage again, or {_PRESS}"


def _tell_anew(leader: LeaderInfo) -> str:
    return f"let go, then {leader.engage_hint or 'hold the dead-man again'}"
