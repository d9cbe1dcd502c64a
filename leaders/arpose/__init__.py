"""A phone as a hand: a page in its browser, or ARBot's app."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="A phone in the hand: a page in its browser (WebXR), or ARBot's app.",
    config="leaders.arpose.config:ArposeConfig",
    factory="leaders.arpose.leader:Arpose",
    verified="emulator",
    install="pip install 'paprle[web]'",
)
