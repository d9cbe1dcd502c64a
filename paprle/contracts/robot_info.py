"""The robot as followers know it, and the table of its numbers by joint.

A recording's header and its check, the digest on which two hosts agree, the manifest
and the robot's own limits are made from ``JOINT_VECTORS``: a new limit by joint is a
field of ``RobotInfo`` and a row of that table (docs/adding_a_limit.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paprle.contracts.urdf.mimic import Mimic

Vec = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class GripperInfo:
    """A limb's gripper: opening 0 is ``closed``, opening 1 is ``open`` [rad] or [m]."""

    joint: str
    closed: float
    open: float

    def measure(self, position: float) -> float:
        """Return the opening at a position of the joint, [rad] or [m]."""
        return (position - self.closed) / (self.open - self.closed)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimbInfo:
    """A limb by name: chain from base_link to eef_link, and its gripper."""

    name: str
    base_link: str
    eef_link: str
    joint_names: tuple[str, ...]
    gripper: GripperInfo | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotInfo:
    """A robot as followers need to know it.

    Attributes:
        name: Name of the robot.
        urdf_path: Its URDF.
        joint_names: All actuated joints (mimic joints excluded), in vector order.
        q_min: Lower position limits, shape (n,); -inf for continuous joints.
        q_max: Upper position limits, shape (n,).
        dq_max: Velocity limits V of the gate, shape (n,).
        ddq_max: Acceleration limits A of the gate, shape (n,).
        home: Home positions, shape (n,).
        limbs: Limbs in order.
        mimics: Joints that follow others.
        dddq_max: Jerk limits J of the gate, shape (n,); None: none.
        ignored: Pairs of links that are not to be kept apart, or not all their bodies.
        sliding: Prismatic joints, whose positions are in [m].
    """

    name: str
    urdf_path: Path
    joint_names: tuple[str, ...]
    q_min: Vec
    q_max: Vec
    dq_max: Vec
    ddq_max: Vec
    home: Vec
    limbs: tuple[LimbInfo, ...]
    mimics: tuple[Mimic, ...] = ()
    dddq_max: Vec | None = None
    ignored: tuple[tuple[str, str], ...] = ()
    sliding: tuple[str, ...] = ()

    def name_positions(self, q: Vec) -> dict[str, float]:
        """Return the positions of all joints, those that follow others too.

        Args:
            q: Of the actuated joints, shape (n,), [rad] or [m].
        """
        positions: dict[str, float]
        positions = dict(zip(self.joint_names, q.tolist(), strict=True))
        for mimic in self.mimics:
            source = positions[mimic.source]
            positions[mimic.joint] = mimic.multiplier * source + mimic.offset
        return positions


class JointVector(NamedTuple):
    """A field of ``RobotInfo`` that has a number for each joint.

    Attributes:
        name: Of the field.
        unlimited: The number that JSON has null for.
        is_limit: Hosts have to agree on it, and a manifest tells it.
        is_optional: The field may be None; its numbers are above 0.
    """

    name: str
    unlimited: float = math.nan
    is_limit: bool = True
    is_optional: bool = False


JOINT_VECTORS = (
    JointVector("q_min", -math.inf),
    JointVector("q_max", math.inf),
    JointVector("dq_max"),
    JointVector("ddq_max"),
    JointVector("dddq_max", is_optional=True),
    JointVector("home", is_limit=False),
)
JOINT_LIMITS = tuple(row.name for row in JOINT_VECTORS if row.is_limit)
