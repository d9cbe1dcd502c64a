"""A leader on another host."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Follows a leader on another host, where `paprle lead` runs.",
    config="paprle.leaders.remote.config:RemoteConfig",
    factory="paprle.leaders.remote.leader:RemoteLeader",
    verified="emulator",
)
