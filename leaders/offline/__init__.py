"""Plays recorded motion."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Plays recorded motion: CSV, TUM, NPZ, own episodes, ROS bags.",
    config="leaders.offline.config:OfflineConfig",
    factory="leaders.offline.leader:Offline",
    verified="simulator",
)
