"""Moves with a rumbling game controller."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Moves with one or several game controllers, which rumble on contact.",
    config="paprle.leaders.gamepad.config:GamepadConfig",
    factory="paprle.leaders.gamepad.leader:Gamepad",
    verified="emulator",
    install="pip install 'paprle[gamepad]'",
    packages=("pygame",),
)
