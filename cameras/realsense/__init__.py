"""Intel RealSense: colour and aligned depth."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Intel RealSense: colour with aligned depth, by pyrealsense2.",
    config="paprle.cameras.realsense.config:RealsenseConfig",
    factory="paprle.cameras.realsense.camera:RealsenseCamera",
    verified="emulator",
    install="pip install 'paprle[realsense]' && apt-get install libusb-1.0-0",
    packages=("pyrealsense2",),
)
