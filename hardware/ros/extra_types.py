"""Texts of types that ``rosbags`` does not bring, or not for all distributions.

Of control_msgs what stands on topics, tf for ROS 1, and our own ``paprle_msgs``.
"""

from __future__ import annotations

from collections.abc import Mapping

EXTRA_TYPES: Mapping[str, str] = {
    "control_msgs/msg/JointTolerance": """\
string name
float64 position
float64 velocity
float64 acceleration
""",
    "control_msgs/msg/GripperCommand": """\
float64 position
float64 max_effort
""",
    "control_msgs/msg/GripperCommandGoal": "control_msgs/GripperCommand command\n",
    "control_msgs/msg/GripperCommandActionGoal": """\
std_msgs/Header header
actionlib_msgs/GoalID goal_id
control_msgs/GripperCommandGoal goal
""",
    "control_msgs/msg/JointJog": """\
std_msgs/Header header
string[] joint_names
float64[] displacements
float64[] velocities
float64 duration
""",
    "control_msgs/msg/JointTrajectoryControllerState": """\
std_msgs/Header header
string[] joint_names
trajectory_msgs/JointTrajectoryPoint reference
trajectory_msgs/JointTrajectoryPoint feedback
trajectory_msgs/JointTrajectoryPoint error
trajectory_msgs/JointTrajectoryPoint output
""",
    "tf2_msgs/msg/TFMessage": "geometry_msgs/TransformStamped[] transforms\n",
    "paprle_msgs/msg/TargetMetric": """\
# A target pose and how old it was: header.stamp is when the leader was captured.
std_msgs/Header header
geometry_msgs/Pose target
float64 ik_solver_delay_ms         # the session's tick: retargeting and IK
float64 e2e_latency_ms_at_control  # from capture to the set-point's leaving
""",
    "paprle_msgs/msg/TrackingMetrics": """\
# Errors of the actual pose against the target, paired within 0.15 s; header.stamp is
# that of the newest target.
std_msgs/Header header
float64 position_rmse_mm           # since the episode began
float64 position_max_mm
float64 position_p95_mm
float64 orientation_rmse_deg
float64 orientation_max_deg
float64 window_position_rmse_mm    # of the last 5 s
float64 window_orientation_rmse_deg
float64 error_x_mm                 # the newest, actual minus target, in the base
float64 error_y_mm
float64 error_z_mm
uint64 n_samples                   # since the episode began
float64 rate_hz                    # of pairs, in the last 5 s
""",
}
"""Type → the text of its ``.msg`` file."""
