"""Two hosts over UDP."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Leader and follower on two hosts, over UDP alone.",
    config="paprle.contracts.settings.core:LinkSettings",
    factory="paprle.links.udp.link:UdpLink",
    verified="emulator",
)
