"""Plays recorded motion."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Plays recorded motion: CSV, TUM, NPZ, own episodes, ROS bags.",
    config="paprle.leaders.offline.config:OfflineConfig",
    factory="paprle.leaders.offline.leader:Offline",
    verified="simulator",
)
