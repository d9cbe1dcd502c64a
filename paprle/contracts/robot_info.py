"""The robot as followers know it.

A new limit is a field and a row of ``JOINT_VECTORS`` (docs/adding_a_limit.md).
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
    """A gripper's joint, ``closed`` and ``open``, [rad] or [m]."""

    joint: str
    closed: float
    open: float

    def measure(self, position: float) -> float:
        """Return the opening at a position, [rad] or [m]."""
        return (position - self.closed) / (self.open - self.closed)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimbInfo:
    """A chain from base_link to eef_link, and its gripper."""

    name: str
    base_link: str
    eef_link: str
    joint_names: tuple[str, ...]
    gripper: GripperInfo | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotInfo:
    """A robot as followers know it; vectors have shape (n,).

    V, A and J are those of the gate; joints are actuated ones, without mimics.

    Attributes:
        q_min: -inf for continuous joints.
        ignored: Links exempt, wholly or partly, from collision avoidance.
        sliding: Prismatic joints, in [m].
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
        """Return all positions by name, mimics too, [rad] or [m]."""
        positions: dict[str, float]
        positions = dict(zip(self.joint_names, q.tolist(), strict=True))
        for mimic in self.mimics:
            source = positions[mimic.source]
            positions[mimic.joint] = mimic.multiplier * source + mimic.offset
        return positions


class JointVector(NamedTuple):
    """A ``RobotInfo`` field with a value per joint.

    ``unlimited`` is null in JSON; optional values are positive.
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
