"""One pad: limb, dead-man and buttons; pure.

The session decides on dead-man and rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import nan

from paprle.contracts.types import Vec, readonly
from paprle.leaders.gamepad.config import GamepadConfig, PadSettings
from paprle.leaders.gamepad.shaping import deflect, parse_terms, shape_controls

_PRESSED, _RELEASED = 0.6, 0.4  # chosen: of a trigger as a button; it must not chatter


class PadState:
    """State of one pad.

    Attributes:
        modes: Net mode changes by limb.
        pressed: Presses by role.
        is_held: The dead-man is held and believed.
        is_doubted: The reading is frozen until a release.
    """

    def __init__(self, settings: PadSettings, config: GamepadConfig) -> None:
        self._limbs, self._config = settings.limbs, config
        self._terms = [parse_terms(text) or () for text in settings.axes.values()]
        self._roles = dict(settings.buttons)
        axes = [control for terms in self._terms for control, _ in terms]
        self.controls = tuple(dict.fromkeys((*axes, *self._roles)))
        self.has_deadman = "deadman" in self._roles.values()
        self.limb = self._limbs[0]
        self.modes = dict.fromkeys(self._limbs, 0)
        self.pressed: Counter[str] = Counter()
        self.forget()

    def forget(self) -> None:
        """Reset, as for a newly plugged pad."""
        self.is_held = self.is_doubted = self.is_moving = False
        self._down: set[str] | None = None
        self._raw: Mapping[str, float] = {}
        self._same_since_ns = 0
        self._deflections = self._mean = [0.0] * len(self._terms)
        self._rests = [True] * len(self._terms)

    def update(self, raw: Mapping[str, float], now_ns: int) -> None:
        """Take one reading at a time, [ns]."""
        grips = self._press(raw)
        c = self._config
        shaped = shape_controls(raw, c.dead_zone, c.trigger_dead_zone, c.curve)
        wished = [deflect(shaped, terms) for terms in self._terms]
        self._doubt(raw, any(wished), grips, now_ns)
        self.is_held = grips and not self.is_doubted
        self.is_moving = self.is_held and any(wished)
        before, self._deflections = self._deflections, wished
        # a straight line between two readings: what a stick did, whatever the rate
        self._mean = [0.5 * (a + b) for a, b in zip(before, wished, strict=True)]
        self._rests = [
            all(shaped[control] == 0.0 for control, _ in terms) for terms in self._terms
        ]

    def read_axes(self, limb: str) -> Vec:
        """Return a limb's mean deflections since the last reading, (m,).

        NaN where a deflected control moves nothing.
        """
        is_moved = limb == self.limb and self.is_held
        return readonly(
            [
                mean if is_moved and mean else 0.0 if rests else nan
                for mean, rests in zip(self._mean, self._rests, strict=True)
            ]
        )

    def _press(self, raw: Mapping[str, float]) -> bool:
        held = self._down or set()
        down = {
            name
            for name in self._roles
            if raw[name] > (_RELEASED if name in held else _PRESSED)
        }
        if self._down is not None:
            for name in sorted(down - held):
                self._act(self._roles[name])
        self._down = down
        if not self.has_deadman:
            return True
        return any(self._roles[name] == "deadman" for name in down)

    def _act(self, role: str) -> None:
        self.pressed[role] += 1
        if role == "mode":
            self.modes[self.limb] += 1
        elif role == "mode_back":
            self.modes[self.limb] -= 1
        elif role == "limb":
            after = self._limbs.index(self.limb) + 1
            self.limb = self._limbs[after % len(self._limbs)]

    def _doubt(
        self, raw: Mapping[str, float], wishes: bool, grips: bool, now_ns: int
    ) -> None:
        if not wishes or not grips or raw != self._raw:
            self._same_since_ns = now_ns
        self._raw = raw
        if now_ns - self._same_since_ns > self._config.longest * 1e9:
            self.is_doubted = True
        elif not grips or not (self.has_deadman or wishes):
            self.is_doubted = False
