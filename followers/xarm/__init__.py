"""UFACTORY arms, by the maker's SDK."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="UFACTORY xArm 5, 6, 7, 850 and Lite 6 on the network, in servo mode.",
    config="paprle.followers.xarm.config:XArmConfig",
    factory="paprle.followers.xarm.follower:XArmFollower",
    verified="emulator",
    install="pip install 'paprle[xarm]'",
)
