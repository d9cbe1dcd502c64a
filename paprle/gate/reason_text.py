"""The gate's reasons as text: cause and remedy."""

from __future__ import annotations

from collections.abc import Mapping

from paprle.gate.contact.scene import TOOL, UNDECIDED
from paprle.gate.reasons import HOLD_REASONS, STOP_REASONS, Reason, from_bits

_WORDS: Mapping[Reason, tuple[str, str]] = {
    Reason.COMMAND_STALE: ("commands come late", ""),
    Reason.COMMAND_LOST: (
        "commands ceased",
        "look at the load of this machine and at the network",
    ),
    Reason.LAG: ("the robot stays behind", "look whether something holds it"),
    Reason.OVERSPEED: (
        "the robot moves faster than commanded",
        "look whether something pushes it, and whether its joints are scaled as it "
        "takes them",
    ),
    Reason.REVERSED: (
        "the robot moves against the command",
        "look whether something pushes it, and at the signs and the order of its "
        "joints",
    ),
    Reason.STATE_STALE: ("the robot's states come late", ""),
    Reason.STATE_LOST: (
        "no usable state of the robot any more",
        "look at its power, its driver and the network",
    ),
    Reason.STATE_BAD: (
        "the robot's states cannot be right",
        "look at what its driver publishes",
    ),
    Reason.OPERATOR_STOP: ("stop was pressed", ""),
    Reason.PEER_DIED: ("the session was gone", ""),
    Reason.FOLLOWER_STOP: (
        "the robot stopped by itself, or is not ours alone",
        "see to the robot",
    ),
    Reason.FOLLOWER_FAULT: ("the robot's driver failed", "read what it said"),
    Reason.STALLED: ("the gate stood still", ""),
}
_LIMITED: Mapping[Reason, str] = {
    Reason.NOT_FINITE: "the command held no numbers",
    Reason.POSITION: "a joint is at its position limit",
    Reason.VELOCITY: "a joint is at its velocity limit",
    Reason.ACCELERATION: "a joint is at its acceleration limit",
    Reason.DT_CHANGED: "the caller's period is not the gate's",
    Reason.BLOCKED: "something blocks the robot",
    Reason.OLD_SEQUENCE: "an old command was dropped",
    Reason.SEQUENCE_JUMP: "a command of another session was dropped",
    Reason.LATE: "the gate was late",
    Reason.CLEARANCE: "the robot is kept clear of something",
    Reason.UNVERIFIED: "no verified stop follows the wanted step",
    Reason.QP_FAILED: "the solver found nothing",
    Reason.TOOL_SPEED: "an end-effector is at its speed limit",
    Reason.SINGULARITY: "the robot is near a singularity",
}

_REFUSED: Mapping[int, str] = {
    TOOL: "an end-effector would be too fast while stopping",
    UNDECIDED: "no stop could be verified within a period",
}


def describe_refusal(kind: int) -> str:
    """Return the cause of a ``TOOL`` or ``UNDECIDED`` refusal."""
    return _REFUSED[kind]


def name_reasons(latched: int, told: str = "") -> str:
    """Return names of latched reasons, with the robot's text."""
    return ", ".join(
        f"{r.name.lower()} ({told})"
        if told and r is Reason.FOLLOWER_STOP
        else r.name.lower()
        for r in from_bits(latched)
    )


def list_words(reasons: int, kept: str = "") -> tuple[str, ...]:
    """Return each reason bit's meaning; ``kept`` describes a pair."""
    found = from_bits(reasons)
    words = [_WORDS[one][0] if one in _WORDS else _LIMITED[one] for one in found]
    if kept and Reason.CLEARANCE in found:
        words[found.index(Reason.CLEARANCE)] = kept
    elif kept and Reason.UNVERIFIED in found:
        words[found.index(Reason.UNVERIFIED)] += f": {kept}"
    return tuple(words)


def describe_reasons(latched: int, told: str = "") -> str:
    """Return ``<names> (<cause>); <remedy>`` of the latest HOLD or STOPPED."""
    reasons = [r for r in from_bits(latched) if r in STOP_REASONS]
    reasons = reasons or [r for r in from_bits(latched) if r in HOLD_REASONS]
    said, advice = [], []
    for reason in reasons:
        happened, look = _WORDS[reason]
        if reason is Reason.COMMAND_LOST and latched >> Reason.STALLED & 1:
            happened, look = _WORDS[Reason.STALLED]
        if told and reason is Reason.FOLLOWER_STOP:
            happened, _, advised = told.partition("; ")
            look = advised or look
        said.append(f"{reason.name.lower()} ({happened})")
        advice += [look] if look else []
    return "; ".join([", ".join(said), *advice])
