"""Teach-in: kept poses are played smoothly."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Keeps poses that the robot was led to, and plays them.",
    config="paprle.leaders.teach.config:TeachConfig",
    factory="paprle.leaders.teach.leader:Teach",
    verified="simulator",
)
