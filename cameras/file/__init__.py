"""The pictures of a recorded episode, as its camera gave them."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Plays the pictures of a recorded episode, over and over.",
    config="paprle.cameras.file.config:FileConfig",
    factory="paprle.cameras.file.camera:FileCamera",
    verified="simulator",
    install="pip install 'paprle[cameras]'",
)
