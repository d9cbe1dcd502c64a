"""Any ROS device as a leader."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Listens to ROS: JointState, PoseStamped, with Joy for the operator.",
    config="paprle.leaders.ros.config:RosLeaderConfig",
    factory="paprle.leaders.ros.leader:RosLeader",
    verified="emulator",
    install="pip install 'paprle[ros2]'",
)
