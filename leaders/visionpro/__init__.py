"""Hands at an Apple Vision Pro, by the app Tracking Streamer."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="One or two hands at a Vision Pro, by the app Tracking Streamer (gRPC).",
    config="paprle.leaders.visionpro.config:VisionproConfig",
    factory="paprle.leaders.visionpro.leader:Visionpro",
    verified="emulator",
    install="pip install 'paprle[vision-pro]'",
    packages=("grpc",),
)
