"""Common printed leaders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownLeader:
    """An arm by words or by a packaged URDF.

    Attributes:
        home: First posture, [deg]; empty: all 0.
    """

    about: str
    words: str = ""
    urdf: str = ""
    home: tuple[float, ...] = ()


# spec: UR5e's Denavit-Hartenberg parameters, universal-robots.com; forward is where the
# arm points at zero, as in urdf/ur5e
_UR5E = (
    "up 162.5, shoulder_pan yaw, shoulder_lift pitch, forward 425, elbow pitch, "
    "forward 392.2, wrist_1 pitch, left 133.3, wrist_2 yaw right, down 99.7, "
    "wrist_3 pitch, left 99.6"
)
# spec: Franka Robotics, documentation of the control interface, Denavit-Hartenberg
# parameters; home as in GELLO's configuration of a Panda
_PANDA = (
    "up 333, joint1 yaw, joint2 pitch, up 316, joint3 yaw, forward 82.5, joint4 pitch "
    "up, back 82.5 up 384, joint5 yaw, joint6 pitch up, forward 88, joint7 yaw right, "
    "down 107"
)
# spec: UFACTORY xArm7's modified Denavit-Hartenberg parameters, xArm user manual
_XARM7 = (
    "up 267, joint1 yaw, joint2 pitch, up 293, joint3 yaw, forward 52.5, joint4 pitch "
    "up, forward 77.5 down 342.5, joint5 yaw right, joint6 pitch, forward 76, joint7 "
    "yaw right, down 97"
)
# spec: Interbotix/interbotix_ros_manipulators, urdf/wx250s.urdf.xacro, joint origins
_WX250S = (
    "up 72, waist yaw, up 38.65, shoulder pitch, up 250 forward 49.75, elbow pitch, "
    "forward 175, forearm_roll roll, forward 75, wrist_angle pitch, forward 65, "
    "wrist_rotate roll, forward 43, gripper"
)
_BENT = (0.0, 0.0, 0.0, -90.0, 0.0, 90.0, 0.0)

KNOWN: Mapping[str, KnownLeader] = {
    "gello_ur5e": KnownLeader(
        about="GELLO of a UR5e",
        words=_UR5E,
        home=(0.0, -90.0, 90.0, -90.0, -90.0, 0.0),
    ),
    "gello_panda": KnownLeader(
        about="GELLO of a Panda or FR3", words=_PANDA, home=_BENT
    ),
    "factr": KnownLeader(about="FACTR's leader of a Panda", words=_PANDA, home=_BENT),
    "gello_xarm7": KnownLeader(
        about="GELLO of an xArm7",
        words=_XARM7,
        home=(0.0, 0.0, 0.0, 90.0, 0.0, 90.0, 0.0),
    ),
    "aloha": KnownLeader(about="ALOHA's leader, a WidowX 250s", words=_WX250S),
    "omy_l100": KnownLeader(
        about="ROBOTIS' OMY-L100", urdf="urdf/puppeteer_omy/robot.urdf"
    ),
    "so101": KnownLeader(about="SO-101 leader", urdf="urdf/so101/robot.urdf"),
}
"""Leaders by the word after ``--like``."""
