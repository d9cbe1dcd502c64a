"""Arms of different makers as one robot."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Several arms as one robot, an env of its own for each limb.",
    config="paprle.followers.mix.config:MixConfig",
    factory="paprle.followers.mix.follower:MixFollower",
    verified="emulator",
    has_parts=True,
)
