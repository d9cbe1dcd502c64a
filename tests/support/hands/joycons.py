"""A pair of Joy-Cons inside SDL, with the parts that SDL finds of real ones.

``SDL_hidapi``'s mapping of each one that is held upright, as its library has it:
sticks, digital triggers, the rail's SL and SR as paddles.
"""

from __future__ import annotations

from paprle.hardware.gamepad.virtual import VirtualPad
from paprle.testing import EmulatedHand

MODELS = {
    "left": (
        "Nintendo Switch Joy-Con (L)",
        (0x057E, 0x2006),
        "back dpdown dpleft dpright dpup leftshoulder leftstick lefttrigger leftx "
        "lefty misc1 paddle2 paddle4",
    ),
    "right": (
        "Nintendo Switch Joy-Con (R)",
        (0x057E, 0x2007),
        "a b guide rightshoulder rightstick righttrigger rightx righty start x y "
        "paddle1 paddle3",
    ),
}
"""Names, USB vendor and product, controls. spec: SDL 2.28."""


def plug_joycons() -> dict[str, VirtualPad]:
    """Plug a pair in."""
    return {
        side: VirtualPad(name, ids, controls=controls.split())
        for side, (name, ids, controls) in MODELS.items()
    }


class JoyConsHand(EmulatedHand):
    """Two hands; each holds its shoulder, and does what a test says.

    Attributes:
        pads: The Joy-Cons, by side.
        holds: Which sides hold their dead-man, while ``is_held``.
    """

    def __init__(self, pads: dict[str, VirtualPad]) -> None:
        super().__init__()
        self.pads, self.holds = pads, set(pads)

    def tick(self) -> None:
        for side, pad in self.pads.items():
            is_held = self.is_held and side in self.holds
            pad.move(f"{side}shoulder", float(is_held))
