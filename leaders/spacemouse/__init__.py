"""Moves with a mouse of six axes."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Moves with a 3Dconnexion mouse: all six axes at once.",
    config="leaders.spacemouse.config:SpacemouseConfig",
    factory="leaders.spacemouse.leader:Spacemouse",
    verified="emulator",
    install="pip install 'paprle[spacemouse]'",
    packages=("hid",),
)
