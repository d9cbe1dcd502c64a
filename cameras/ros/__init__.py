"""Images of a ROS topic."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Image or CompressedImage of ROS 2 (rclpy, or DDS without ROS) or ROS 1.",
    config="paprle.cameras.ros.config:RosCameraConfig",
    factory="paprle.cameras.ros.camera:RosCamera",
    verified="emulator",
    install="pip install 'paprle[ros2]'",
)
