"""USB cameras, streams and video files."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="USB cameras (V4L2), network streams and video files, by OpenCV.",
    config="paprle.cameras.opencv.config:OpencvConfig",
    factory="paprle.cameras.opencv.camera:OpencvCamera",
    verified="emulator",
    install="pip install 'paprle[cameras]'",
    packages=("cv2",),
)
