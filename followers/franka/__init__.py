"""Franka Research 3 and Panda, by libfranka."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Franka Research 3 or Panda, joint positions at 1 kHz.",
    config="paprle.followers.franka.config:FrankaConfig",
    factory="paprle.followers.franka.follower:FrankaFollower",
    verified="emulator",
    install="pip install 'paprle[franka]', for a Panda 'paprle[franka-panda]'",
)
