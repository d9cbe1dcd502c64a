"""Hands at a headset: controllers or tracked hands, through its browser."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="One or two hands at a headset, through its browser (WebXR).",
    config="leaders.webxr.config:WebxrConfig",
    factory="leaders.webxr.leader:Webxr",
    verified="emulator",
    install="pip install 'paprle[web]'",
)
