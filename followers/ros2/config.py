"""YAML settings of a robot behind ROS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.plugin import FollowerSettings
from paprle.contracts.settings.robotiq import RobotiqSettings
from paprle.contracts.types import PowerOff
from paprle.hardware.ros.transports.choice import NodeSettings


@settings
class CommandConfig:
    """One topic that takes commands."""

    topic: Annotated[str, doc("Its name, below the namespace.")]
    kind: Annotated[
        Literal[
            "trajectory",
            "positions",
            "joint_state",
            "gripper_action",
            "kinova_joints",
            "kinova_fingers",
        ],
        doc(
            "trajectory: JointTrajectory, joint_trajectory_controller; positions: "
            "Float64MultiArray, forward_command_controller; joint_state: JointState; "
            "gripper_action: GripperCommand, one joint; rclpy or rospy only; "
            "kinova_joints, kinova_fingers: the actions of Kinova's driver; rospy."
        ),
    ] = "trajectory"
    joints: Annotated[
        tuple[str, ...] | None,
        doc(
            "URDF joints in the message's order, joints that mimic others included; "
            "absent: those of the limb that this entry is named after, or of its "
            "gripper for LIMB_gripper."
        ),
    ] = None
    effort: Annotated[
        float,
        Ge(0),
        Unit("N or N·m"),
        doc(
            "Largest effort of a gripper_action's goals; 0: position controllers do "
            "not look at it, some others take it for none at all."
        ),
    ] = 0.0

    def __post_init__(self) -> None:
        if self.effort and self.kind != "gripper_action":
            raise ValueError(
                f"an effort with kind gripper_action alone, not {self.kind}"
            )


@settings
class RosConfig(NodeSettings, FollowerSettings):
    """Settings of the node and the robot's topics."""

    node: Annotated[str, doc("Name of our node.")] = "paprle_gate"
    rate: Annotated[
        float, Ge(10), Le(500), Unit("Hz"), doc("How often commands are sent.")
    ] = 200.0
    state_rate: Annotated[
        float | None,
        Ge(10),
        Le(1000),
        Unit("Hz"),
        doc("How often states come, if less often than commands."),
    ] = None
    lead: Annotated[
        float,
        Gt(0),
        Le(0.2),
        Unit("s"),
        doc("From a trajectory's arrival to its next point."),
    ] = 0.01
    lag: Annotated[
        float,
        Ge(0),
        Le(1),
        Unit("s"),
        doc("Identified delay between command and measurement."),
    ] = 0.035
    timeout: Annotated[
        float, Gt(0), Le(60), Unit("s"), doc("How long the robot is looked for.")
    ] = 5.0
    namespace: Annotated[str, doc("Before every topic, for example /robot1.")] = ""
    states: Annotated[tuple[str, ...], doc("Topics of joint states.")] = (
        "/joint_states",
    )
    state_publishers: Annotated[
        int, Ge(1), doc("Publishers that each of them has; more stop the robot (T2).")
    ] = 1
    commands: Annotated[
        Mapping[str, CommandConfig | None],
        doc("Topics of commands, by limb, LIMB_gripper or any name; null: not used."),
    ] = field(default_factory=dict)
    joint_prefix: Annotated[
        str, doc("What ROS puts before the URDF's joint names.")
    ] = ""
    joint_names: Annotated[
        Mapping[str, str], doc("What ROS calls joints otherwise, by URDF joint.")
    ] = field(default_factory=dict)
    joint_scale: Annotated[
        Mapping[str, float],
        Unit("1"),
        doc(
            "Position in ROS over position in the URDF, by URDF joint; 1 where absent."
        ),
    ] = field(default_factory=dict)
    running_topic: Annotated[
        str, doc("Latched Bool that is false while the robot is stopped; may be empty.")
    ] = ""
    speed_topic: Annotated[
        str,
        Unit("%"),
        doc("Float64, how fast the robot lets itself be moved (UR); may be empty."),
    ] = ""
    simulated: Annotated[
        bool,
        doc("Nothing is measured: fake hardware, whose states are what it was told."),
    ] = False
    power_off: Annotated[PowerOff, doc("What the arm does when its power goes.")] = (
        "falls"
    )
    robotiq: Annotated[
        RobotiqSettings, doc("Robotiq gripper on a serial port of its own.")
    ] = field(default_factory=RobotiqSettings)

    def __post_init__(self) -> None:
        for joint, scale in self.joint_scale.items():
            if scale == 0.0:
                raise ValueError(f"a scale that is not 0 for '{joint}'")
