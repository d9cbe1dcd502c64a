"""ROS publisher of a session."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Target, actual pose, delays and errors on ROS; on request tf and joints.",
    config="paprle.observers.ros.config:RosObserverConfig",
    factory="paprle.observers.ros.observer:RosObserver",
    verified="emulator",
    install="pip install 'paprle[ros2]'",
)
