"""Mistakes in a pad's YAML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from paprle.contracts.axes import N_AXES
from paprle.hardware.gamepad.controls import CONTROLS
from paprle.leaders.gamepad.config import GamepadConfig, PadSettings
from paprle.leaders.gamepad.shaping import parse_terms


def find_mistakes(config: GamepadConfig) -> list[str]:
    """Return all mistakes in a config."""
    if not config.pads:
        return [
            "leader.pads: expected at least one pad, got none; copy "
            "configs/leader/gamepad.yaml"
        ]
    mistakes = [
        text for name, pad in config.pads.items() for text in _judge_pad(name, pad)
    ]
    users = Counter(limb for pad in config.pads.values() for limb in set(pad.limbs))
    mistakes += [
        f"leader.pads: expected one pad per limb, got {n} for '{limb}'"
        for limb, n in users.items()
        if n > 1
    ]
    return mistakes


def _judge_pad(name: str, pad: PadSettings) -> Iterator[str]:
    where = f"leader.pads.{name}"
    if not pad.limbs or len(set(pad.limbs)) < len(pad.limbs):
        yield f"{where}.limbs: expected different limbs, got {list(pad.limbs)}"
    if not 0 < len(pad.axes) <= N_AXES:
        yield f"{where}.axes: expected 1 to {N_AXES} axes, got {len(pad.axes)}"
    for axis, text in pad.axes.items():
        if parse_terms(text) is None:
            yield (
                f"{where}.axes.{axis}: expected controls and signs (-lefty, "
                f"dpup-dpdown), got '{text}'; controls: {', '.join(CONTROLS)}"
            )
    for button in pad.buttons:
        if button not in CONTROLS:
            yield (
                f"{where}.buttons.{button}: expected a control, got '{button}'; "
                f"controls: {', '.join(CONTROLS)}"
            )
