"""Pictures of a recorded episode."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Plays the pictures of a recorded episode, over and over.",
    config="paprle.cameras.file.config:FileConfig",
    factory="paprle.cameras.file.camera:FileCamera",
    verified="simulator",
    install="pip install 'paprle[cameras]'",
)
