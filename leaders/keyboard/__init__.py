"""Moves with a terminal's keys."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Moves with the keys of a plain terminal, over SSH too.",
    config="paprle.leaders.keyboard.config:KeyboardConfig",
    factory="paprle.leaders.keyboard.leader:Keyboard",
    verified="emulator",
)
