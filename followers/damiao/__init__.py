"""Arms of Damiao motors on CAN: OpenArm and YAM."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="OpenArm and YAM on CAN: Damiao motors in MIT mode, gravity compensated.",
    config="paprle.followers.damiao.config:DamiaoConfig",
    factory="paprle.followers.damiao.follower:DamiaoFollower",
    verified="emulator",
    install="pip install 'paprle[damiao]'",
)
