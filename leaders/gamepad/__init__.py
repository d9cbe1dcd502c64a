"""Moves with a game controller, which rumbles."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Moves with one or several game controllers, which rumble on contact.",
    config="leaders.gamepad.config:GamepadConfig",
    factory="leaders.gamepad.leader:Gamepad",
    verified="emulator",
    install="pip install 'paprle[gamepad]'",
    packages=("pygame",),
)
