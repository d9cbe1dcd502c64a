"""Status and remedies of a gripper.

Source: Robotiq, instruction manual of 2F-85 and 2F-140, "Robot input registers".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ACTIVATED = 3  # spec: gSTA
OPENING_CONTACT, CLOSING_CONTACT = 1, 2  # spec: gOBJ
_SILENCE = 0x09  # spec: no communication for a second; it ends with the question
ACTIVATE = (
    "activate it with its fingers free, since they open and close fully (at the "
    "pendant, or by env.robotiq.activates=true at the next start)"
)
"""Remedy of a gripper that is not activated."""

_FAULTS: Mapping[int, tuple[str, str]] = {  # spec: gFLT
    0x05: ("it moves only after its activation", ACTIVATE),
    0x07: ("it moves only after its activation", ACTIVATE),
    0x08: ("too hot", "let it cool down"),
    0x0A: ("supply voltage too low", f"look at its 24 V supply, then {ACTIVATE}"),
    0x0B: ("automatic release in progress", f"wait for its end, then {ACTIVATE}"),
    0x0C: ("internal fault", "ask Robotiq's support"),
    0x0D: ("activation failed", f"clear its fingers' way, then {ACTIVATE}"),
    0x0E: ("current too high", f"clear its fingers' way, then {ACTIVATE}"),
    0x0F: ("automatic release done", ACTIVATE),
}


@dataclass(frozen=True, slots=True)
class Status:
    """Report of a gripper.

    Attributes:
        state: gSTA; 3: activated.
        contact: gOBJ; 1: stopped on opening, 2: on closing.
        fault: gFLT; 0: none.
        position: 0 open … 255 closed, [counts].
        current: [A]; None: unknown.
    """

    state: int
    contact: int
    fault: int
    position: int
    current: float | None = None

    @property
    def trouble(self) -> str:
        """Reason for disobedience with a remedy, or ""."""
        if self.fault not in (0, _SILENCE):
            words, remedy = _FAULTS.get(self.fault, ("unknown", "read its manual"))
            return f"fault 0x{self.fault:02X}, {words}; {remedy}"
        if self.state != ACTIVATED:
            return f"expected an activated gripper, got one that is not; {ACTIVATE}"
        return ""
