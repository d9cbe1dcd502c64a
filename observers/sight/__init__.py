"""Camera pictures for a remote operator."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Clouds by UDP and video by WebRTC, as much as the link takes.",
    config="paprle.observers.sight.config:SightConfig",
    factory="paprle.observers.sight.observer:Sight",
    verified="emulator",
    install="pip install 'paprle[sight]'",
    packages=("aiortc",),
)
