"""Universal Robots' arms of the e-series, by ur_rtde."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Universal Robots UR3e to UR30 on the network, by servoj at 500 Hz.",
    config="paprle.followers.ur.config:UrConfig",
    factory="paprle.followers.ur.follower:UrFollower",
    verified="emulator",
    install="pip install 'paprle[ur]'",
    packages=("rtde_control", "rtde_receive", "dashboard_client"),
)
