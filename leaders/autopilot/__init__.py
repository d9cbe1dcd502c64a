"""Draws shapes without an operator."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Draws a circle, square, rectangle, triangle or S at constant speed.",
    config="paprle.leaders.autopilot.config:AutopilotConfig",
    factory="paprle.leaders.autopilot.leader:Autopilot",
    verified="simulator",
)
