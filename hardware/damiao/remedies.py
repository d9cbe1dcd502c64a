"""Motor states with remedies, for ``stop_reason``."""

from __future__ import annotations

from collections.abc import Mapping

from paprle.hardware.damiao.packets import Status

AGAIN = "start the session again"

WORDS: Mapping[Status, str] = {
    Status.DISABLED: "no torque",
    Status.OVER_VOLTAGE: "over-voltage (8)",
    Status.UNDER_VOLTAGE: "under-voltage (9)",
    Status.OVER_CURRENT: "over-current (A)",
    Status.MOS_HOT: "transistors too hot (B)",
    Status.COIL_HOT: "coil too hot (C)",
    Status.COMMUNICATION_LOST: "communication lost (D)",
    Status.OVERLOAD: "overload (E)",
}
"""spec: Damiao's manuals, status of a feedback."""

REMEDIES: Mapping[Status, str] = {
    Status.DISABLED: "end the other program that speaks to it",
    Status.OVER_VOLTAGE: "look at the supply",
    Status.UNDER_VOLTAGE: "look at the supply and its cables",
    Status.OVER_CURRENT: "look for a collision or a jam",
    Status.MOS_HOT: "let it cool",
    Status.COIL_HOT: "let it cool",
    Status.COMMUNICATION_LOST: "look at cables and the computer's load",
    Status.OVERLOAD: "take the load away",
}
"""A person's action by status, before the session is started again."""


def describe(name: str, status: Status) -> str:
    """Return a motor's state and remedy; "" if it obeys."""
    if status is Status.ENABLED:
        return ""
    return f"{name}: {WORDS[status]}; {REMEDIES[status]}"
