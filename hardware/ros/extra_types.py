"""Types missing in ``rosbags``: control_msgs, kinova_msgs, tf, paprle_msgs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

PAPRLE_MSGS = Path(__file__).parent / "paprle_msgs"
"""A package of our own types; rclpy alone needs it built."""

_THREE = range(1, 4)
_JOINT_ANGLES = "".join(f"float32 joint{k}\n" for k in range(1, 8))


def _make_goal(action: str) -> str:
    return (
        "std_msgs/Header header\nactionlib_msgs/GoalID goal_id\n"
        f"kinova_msgs/{action}Goal goal\n"
    )


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
    "kinova_msgs/msg/JointAngles": _JOINT_ANGLES,
    "kinova_msgs/msg/FingerPosition": "".join(f"float32 finger{k}\n" for k in _THREE),
    "kinova_msgs/msg/ArmJointAnglesGoal": "kinova_msgs/JointAngles angles\n",
    "kinova_msgs/msg/ArmJointAnglesActionGoal": _make_goal("ArmJointAngles"),
    "kinova_msgs/msg/SetFingersPositionGoal": "kinova_msgs/FingerPosition fingers\n",
    "kinova_msgs/msg/SetFingersPositionActionGoal": _make_goal("SetFingersPosition"),
    "tf2_msgs/msg/TFMessage": "geometry_msgs/TransformStamped[] transforms\n",
    **{
        f"paprle_msgs/msg/{path.stem}": path.read_text(encoding="utf-8")
        for path in sorted(PAPRLE_MSGS.glob("msg/*.msg"))
    },
}
"""Type → the text of its ``.msg`` file."""
