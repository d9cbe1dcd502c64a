"""Session's page as a leader."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="The session's page: handles in the picture, keys, sliders, a gamepad.",
    config="paprle.leaders.web.config:WebConfig",
    factory="paprle.leaders.web.leader:Web",
    verified="simulator",
    install="pip install 'paprle[page]'",
)
