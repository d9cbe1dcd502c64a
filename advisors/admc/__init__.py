"""Adaptive DoF mapping: suggested motions (AdaptiX)."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="What the axes of a device should move next, to grasp and to place.",
    config="paprle.advisors.admc.config:AdmcConfig",
    factory="paprle.advisors.admc.advisor:Admc",
    verified="simulator",
)
