"""Parts from which a simulated robot is built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]

NATURAL_FREQUENCY = 250.0  # [rad/s] chosen: 8 ms behind on a ramp, stable at 2 ms steps
# as long as no drive is at its effort limit: there MuJoCo does not take its damping
# implicitly, and what little inertia two joints in line share then chatters

BLOCK = "block"
"""Name of the object to grasp."""
TARGET = "target"
"""Name of the place where it is to be put."""
TARGET_HALF_SIZE = 0.045  # [m] chosen: the block on it with 3 cm to spare all round


@dataclass(frozen=True, slots=True, kw_only=True)
class MimicJoint:
    """A joint that follows an actuated one: q = multiplier · q_source + offset."""

    joint: str
    source: str
    multiplier: float
    offset: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """A robot.

    Attributes:
        joint_names: Actuated joints, in the order of all vectors.
        home: Shape (n,), [rad] or [m].
        ignored: Pairs of links without collisions.
    """

    urdf_path: Path
    joint_names: tuple[str, ...]
    home: Vec
    mimics: tuple[MimicJoint, ...] = ()
    grippers: tuple[str, ...] = ()
    eef_links: tuple[str, ...] = ()
    ignored: tuple[tuple[str, str], ...] = ()


def make_mechanism(robot: Any) -> Mechanism:
    """Return the mechanism of a RobotInfo of ``paprle.contracts``."""
    limbs: Sequence[Any] = robot.limbs
    return Mechanism(
        urdf_path=robot.urdf_path,
        joint_names=robot.joint_names,
        home=robot.home,
        mimics=tuple(
            MimicJoint(
                joint=mimic.joint,
                source=mimic.source,
                multiplier=mimic.multiplier,
                offset=mimic.offset,
            )
            for mimic in robot.mimics
        ),
        grippers=tuple(limb.gripper.joint for limb in limbs if limb.gripper),
        eef_links=tuple(limb.eef_link for limb in limbs),
        ignored=robot.ignored,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Options of the simulation and of its world.

    Attributes:
        timestep: [s].
        natural_frequency: Of each servo, [rad/s].
        armature: Rotor behind its gear of turning joints, [kg·m²]; None: chosen by
            the kind of joint.
        has_gravcomp: The drives carry the arm's own weight.
        block_offset: From the first end effector, x and y, [m].
        target: Place beside the robot's base, x and y in world, [m].
        friction_scales: On the joints' dry friction, shape (n,).
        payloads: Unknown mass at each end effector, [kg].
    """

    timestep: float = 0.001
    natural_frequency: float = NATURAL_FREQUENCY
    armature: float | None = None
    has_gravcomp: bool = True
    has_table: bool = True
    has_block: bool = True
    block_offset: tuple[float, float] = (0.0, 0.0)
    target: tuple[float, float] | None = None
    friction_scales: tuple[float, ...] = ()
    payloads: tuple[float, ...] = ()
