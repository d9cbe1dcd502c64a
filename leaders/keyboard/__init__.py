"""Moves with the keys of a plain terminal."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Moves with the keys of a plain terminal, over SSH too.",
    config="leaders.keyboard.config:KeyboardConfig",
    factory="leaders.keyboard.leader:Keyboard",
    verified="emulator",
)
