"""A remote depth camera."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="The clouds that observers.sight sends from the robot's host.",
    config="paprle.cameras.sight.config:SightCameraConfig",
    factory="paprle.cameras.sight.camera:SightCamera",
    verified="emulator",
    install="pip install 'paprle[sight]'",
    packages=("aiortc",),
)
