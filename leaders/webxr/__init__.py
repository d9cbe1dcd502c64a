"""A phone or headset, through a browser's page."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="A phone, or one or two hands at a headset, through its browser (WebXR).",
    config="paprle.leaders.webxr.config:WebxrConfig",
    factory="paprle.leaders.webxr.leader:Webxr",
    verified="emulator",
    install="pip install 'paprle[quest]'",
)
