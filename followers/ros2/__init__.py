"""A robot behind ROS 2 or ROS 1."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Robot behind ROS 2 (rclpy, or DDS without ROS) or ROS 1 (rospy).",
    config="paprle.followers.ros2.config:RosConfig",
    factory="paprle.followers.ros2.follower:RosFollower",
    verified="emulator",
    install="pip install 'paprle[ros2]'",
)
