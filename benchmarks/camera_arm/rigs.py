"""Camera arms, other cameras, and moving obstacles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin
import yaml

from paprle.ipc.process import WORKSPACE

_ROBOTS = WORKSPACE / "configs" / "follower"
_EYE = "camera_arm_optical"
BALL = 0.06  # [m] radius of what moves about: a fist
SETTLE = 3.0  # [s] a camera may take to find its first place


class Way(NamedTuple):
    """Path of a ball across lines of sight.

    Attributes:
        centre: In the world, [m].
        half: Ellipse along x and y, [m]; (0, a) is to and fro.
        lift: Vertical amplitude, twice a round, [m].
        period: Of a round, [s]; negative: reversed.
    """

    centre: tuple[float, float, float] = (0.5, 0.0, 0.40)
    half: tuple[float, float] = (0.25, 0.25)
    lift: float = 0.06
    period: float = 9.0

    def place(self, t):
        """Return the ball at a time [s], (3,), [m]."""
        a = 2.0 * np.pi * t / self.period
        way = self.half[0] * np.cos(a), self.half[1] * np.sin(a)
        return np.array(self.centre) + [*way, self.lift * np.sin(2.0 * a)]


def draw_way(seed, middle):
    """Return a seeded way about a place."""
    rng = np.random.default_rng([seed, 1])
    aside = rng.uniform((-0.08, -0.1, 0.05), (0.08, 0.1, 0.28))
    half = rng.uniform((0.0, 0.12), (0.28, 0.32))
    period = rng.choice([-1.0, 1.0]) * rng.uniform(5.0, 13.0)
    return Way(tuple(middle + aside), tuple(half), rng.uniform(0.0, 0.1), period)


def look_from(p, target):
    """Return an upright camera pose towards a point."""
    z = np.asarray(target) - p
    z = z / np.linalg.norm(z)
    x = np.cross(z, [0.0, 0.0, 1.0])
    x = (
        x / np.linalg.norm(x)
        if np.linalg.norm(x) > 1e-6
        else np.array([0.0, -1.0, 0.0])
    )
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.column_stack([x, np.cross(z, x), z]), p
    return T


class Rig(NamedTuple):
    """A robot with a camera arm.

    Attributes:
        arm: Watched limb.
        carrier: Body of the camera, invisible to it.
        hand: Body of a camera on the hand.
        mount: Camera on its eef, xyz and rpy; empty: looks along z.
        p_tool_fingers: In the hand's eef, [m].
        middle: Of the workspace, [m].
    """

    follower: str
    camera: str
    arm: str
    carrier: str
    hand: str
    mount: tuple[str, str] | tuple[()]
    T_tool_cam: pin.SE3
    p_tool_fingers: tuple[float, float, float]
    middle: tuple[float, float, float]
    way: Way
    scale: float
    words: tuple[str, ...]

    @property
    def static(self):
        """The paper's three cameras (C14): scene, head, from above."""
        middle = np.array(self.middle)
        aside = {
            "visibility": (0.85, 0.0, 0.5),
            "head": (-0.85, 0.35, 0.95),
            "overhead": (0.0, 0.0, 1.35),
        }
        return {name: look_from(middle + p, middle) for name, p in aside.items()}

    def write_robot(self, folder):
        """Return the follower whose camera eef looks along z.

        On the virtual clock no cameras run.
        """
        if not self.mount:
            return self.follower
        settings = yaml.safe_load((_ROBOTS / f"{self.follower}.yaml").read_text())
        limb = settings["limbs"][self.camera]
        xyz, rpy = self.mount
        link = (
            f'<link name="{_EYE}"/><joint name="{_EYE}_joint" type="fixed">'
            f'<parent link="{limb["eef_link"]}"/><child link="{_EYE}"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/></joint></robot>'
        )
        urdf, place = folder / "robot.urdf", folder / f"{self.follower}.yaml"
        text = (WORKSPACE / settings["urdf"]).read_text()
        urdf.write_text(text.replace("</robot>", link))
        settings["urdf"], limb["eef_link"] = str(urdf), _EYE
        place.write_text(yaml.safe_dump(settings))
        return str(place)


RIGS = {
    "ur5e_camera": Rig(
        follower="ur5e_camera",
        camera="camera",
        arm="arm",
        carrier="camera_l6",
        hand="wrist_3_link",
        mount=(),
        T_tool_cam=pin.SE3(  # beside the flange, looks past it at what fingers hold
            pin.rpy.rpyToMatrix(0.6, 0.0, -np.pi / 2), np.array([0.09, 0, -0.02])
        ),
        p_tool_fingers=(0.0, 0.0, 0.08),  # before the flange
        middle=(0.5, 0.0, 0.25),
        way=Way(),
        scale=1.0,
        words=("gate.scene={table: {shape: ground, size: []}}",),
    ),
    "papras_7dof_2arm": Rig(  # as docs/camera_arm.md says it
        follower="papras_7dof_2arm",
        camera="left",
        arm="right",
        carrier="left_link7",
        hand="right_link7",
        mount=("0 0 0.06", "-1.5708 0 -1.5708"),
        T_tool_cam=pin.SE3(look_from(np.array([-0.1, 0.0, 0.14]), (0.02, 0.0, 0.0))),
        p_tool_fingers=(0.02, 0.0, 0.0),  # its eef is between the fingertips
        middle=(0.55, -0.5, 0.15),
        way=Way((0.55, -0.45, 0.28), (0.18, 0.18), 0.05),
        scale=0.5,
        words=(
            "advisors.viewpoint.height=0.45",
            "advisors.viewpoint.nearest=0.35",
            "advisors.viewpoint.farthest=0.5",
        ),
    ),
}
