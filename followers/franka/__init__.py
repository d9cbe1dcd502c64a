"""Franka Research 3, by the maker's SDK."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Franka Research 3 on the network, joint positions at 1 kHz.",
    config="paprle.followers.franka.config:FrankaConfig",
    factory="paprle.followers.franka.follower:FrankaFollower",
    verified="emulator",
    install="pip install 'paprle[franka]'",
)
