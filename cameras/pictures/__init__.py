"""Plays the pictures of a folder as a camera would give them."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Plays the PNG pictures of a folder, over and over.",
    config="cameras.pictures.config:PicturesConfig",
    factory="cameras.pictures.camera:Pictures",
    verified="simulator",
    install="pip install 'paprle[markers]'",
    packages=("cv2",),
)
