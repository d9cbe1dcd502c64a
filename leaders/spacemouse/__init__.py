"""Moves with a six-axis mouse."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Moves with a 3Dconnexion mouse: all six axes at once.",
    config="paprle.leaders.spacemouse.config:SpacemouseConfig",
    factory="paprle.leaders.spacemouse.leader:Spacemouse",
    verified="emulator",
    install="pip install 'paprle[spacemouse]'",
    packages=("hid",),
)
