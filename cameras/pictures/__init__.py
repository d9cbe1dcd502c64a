"""A folder of pictures as a camera."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Plays the PNG pictures of a folder, over and over.",
    config="paprle.cameras.pictures.config:PicturesConfig",
    factory="paprle.cameras.pictures.camera:Pictures",
    verified="simulator",
    install="pip install 'paprle[cameras]'",
    packages=("cv2",),
)
