"""Arms of a robot with places."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from paprle.config.files import EVERYWHERE
from paprle.contracts.errors import ConfigError
from paprle.contracts.settings.core import RobotSettings
from paprle.robot import RobotModel
from paprle.robot.urdf import read_urdf
from paprle_lab.onboarding.joined.urdf import ROOT
from paprle_lab.onboarding.new_robot import name_follower

MIX = "mix"
"""The env in which each limb has an env of its own."""

ROOM = 0.3  # chosen: [m] between the bodies of two arms at home, room for a hand
NEAREST, STEP, FARTHEST = 0.4, 0.1, 3.0  # chosen: [m] between neighbouring bases
_LEVEL = 1e-3  # chosen: [rad] a base that is tilted by less stands upright


@dataclass(frozen=True)
class PlacedArm:
    """A described follower of one limb.

    Attributes:
        limb: Its limb's name in the new robot.
        name: As ``follower=`` names it.
    """

    limb: str
    name: str
    settings: RobotSettings
    robot: RobotModel

    def rename(self, name: str) -> str:
        """Return the new robot's name of an element."""
        return f"{self.limb}_{name}"

    def rename_keys(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return values by the new robot's joint names."""
        return {self.rename(name): value for name, value in values.items()}

    @property
    def env(self) -> str:
        """The first env of a real robot, or ``kinematic``."""
        real = [env for env in self.settings.envs if env not in EVERYWHERE]
        return real[0] if real else EVERYWHERE[0]


def check_places(
    arms: Sequence[PlacedArm], places: Mapping[str, pin.SE3]
) -> dict[str, pin.SE3]:
    """Return given places; raise ConfigError for those of other limbs."""
    limbs = [arm.limb for arm in arms]
    others = [limb for limb in places if limb not in limbs]
    if others:
        raise ConfigError(
            f"--place: expected limbs of the robot ({', '.join(limbs)}), got "
            f"{', '.join(others)}"
        )
    return dict(places)


def line_up(arms: Sequence[PlacedArm], distance: float) -> dict[str, pin.SE3]:
    """Return places around the root, from left (y) to right."""
    sides = {"left": 0, "right": 2}
    ordered = sorted(arms, key=lambda arm: sides.get(arm.limb, 1))
    middle = 0.5 * (len(arms) - 1)
    return {
        arm.limb: pin.SE3(np.eye(3), np.array([0.0, (middle - k) * distance, 0.0]))
        for k, arm in enumerate(ordered)
    }


def measure_apart(robot: RobotModel, arms: Sequence[PlacedArm]) -> float:
    """Return the least distance of arms at home, [m]."""
    bodies = robot.make_collision_model({})
    limbs = [f"{arm.limb}_" for arm in arms]
    between = [
        k
        for k, (a, b) in enumerate(bodies.pairs)
        if [a.startswith(limb) for limb in limbs]
        != [b.startswith(limb) for limb in limbs]
    ]
    return float(bodies.clearances(robot.home)[between].min(initial=math.inf))


def report_arms(
    arms: Sequence[PlacedArm],
    path: Path,
    urdf: Path,
    apart: float,
    given: Mapping[str, pin.SE3],
) -> list[str]:
    """Return lines on files and open checks."""
    tree = read_urdf(urdf)
    lines = [f"wrote {path}", f"wrote {urdf}"]
    for arm in arms:
        T = tree.joint(f"{arm.limb}_place").T_parent_joint
        place = ", ".join(
            f"{x + 0.0:g}" for x in (*T.translation, *pin.rpy.matrixToRpy(T.rotation))
        )
        lines.append(
            f"limb {arm.limb}: {arm.name}, {len(arm.robot.joint_names)} joints, at "
            f"{place} [m, rad] in {ROOT}, env {arm.env}"
        )
        if float(np.arccos(np.clip(T.rotation[2, 2], -1.0, 1.0))) > _LEVEL:
            lines.append(
                f"CHECK: {arm.limb}: its base is tilted; a driver that carries the "
                "arm's weight (damiao) counts on one that stands upright"
            )
        if arm.env in EVERYWHERE:
            lines.append(f"CHECK: {arm.limb}: '{arm.name}' has no env of a real robot")
    chosen = [arm.limb for arm in arms if arm.limb not in given]
    if chosen:
        lines.append(
            f"CHECK: places were chosen for {', '.join(chosen)}; measure them and give "
            "them by --place LIMB=x,y,z,roll,pitch,yaw, or find them by `paprle "
            "calibrate bases`"
        )
    for env in EVERYWHERE:
        own = [arm.settings.envs.get(env) or {} for arm in arms]
        if any(one != own[0] for one in own):
            lines.append(
                f"CHECK: envs.{env}: the arms have different settings, so that none "
                "is taken"
            )
    follower = name_follower(path)
    has_doubts = any(line.startswith("CHECK") for line in lines)
    return [
        *lines,
        f"{apart:.2f} m between the arms at home",
        "next: read the CHECK lines, then" if has_doubts else "next:",
        f"  paprle run leader=autopilot follower={follower} env=kinematic",
        f"  paprle doctor follower={follower} env={MIX}",
    ]
