"""Suggestions learned by a network or function."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="What the axes of a device should move next, as demonstrations have it.",
    config="paprle.advisors.learned.config:LearnedConfig",
    factory="paprle.advisors.learned.advisor:Learned",
    verified="simulator",
)
