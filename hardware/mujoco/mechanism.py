"""Parts of a simulated robot."""

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
    """Follower of a joint: q = multiplier · q_source + offset."""

    joint: str
    source: str
    multiplier: float
    offset: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """A robot.

    Attributes:
        joint_names: Actuated, in vector order.
        home: Shape (n,), [rad] or [m].
        ignored: Pairs without collisions.
    """

    urdf_path: Path
    joint_names: tuple[str, ...]
    home: Vec
    mimics: tuple[MimicJoint, ...] = ()
    grippers: tuple[str, ...] = ()
    eef_links: tuple[str, ...] = ()
    ignored: tuple[tuple[str, str], ...] = ()


def make_mechanism(robot: Any) -> Mechanism:
    """Return a ``paprle.contracts`` RobotInfo's mechanism."""
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
    """Options of the simulation.

    Attributes:
        timestep: [s].
        natural_frequency: Of servos, [rad/s].
        armature: Of turning joints, [kg·m²]; None: by kind.
        block_offset: From the first end effector, [m].
        target: In world, [m].
        friction_scales: Of dry friction, shape (n,).
        payloads: By end effector, [kg].
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
