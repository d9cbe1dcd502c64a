"""Plays recorded motion."""

from paprle.interfaces import PluginSpec

PLUGIN = PluginSpec(
    summary="Plays recorded motion: ARBot CSV, TUM, joint CSV, NPZ, own episodes.",
    config="leaders.offline.config:OfflineConfig",
    factory="leaders.offline.leader:Offline",
    verified="simulator",
)
