"""Pose of a camera arm that shows the hand's work."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Place and posture of a camera arm that watches another limb's hand.",
    config="paprle.advisors.viewpoint.config:ViewpointConfig",
    factory="paprle.advisors.viewpoint.advisor:Viewpoint",
    verified="simulator",
    install="pip install 'paprle[camera-arm]'",
)
