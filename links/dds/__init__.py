"""Two hosts over DDS, without ROS."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Leader and follower on two hosts, over DDS (cyclonedds).",
    config="paprle.contracts.settings.core:LinkSettings",
    factory="paprle.links.dds.link:DdsLink",
    verified="emulator",
    install="pip install 'paprle[ros2]'",
)
