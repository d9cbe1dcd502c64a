"""Where a camera arm should be, so that the operator sees what the hand does."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Place and posture of a camera arm that watches another limb's hand.",
    config="advisors.viewpoint.config:ViewpointConfig",
    factory="advisors.viewpoint.advisor:Viewpoint",
    verified="simulator",
)
