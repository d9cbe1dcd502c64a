"""Links of a leader's arm, and the drives of its servos."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from paprle_emulators.dynamixel.models import ServoModel
from paprle_emulators.servo_rig.arm import Drives
from paprle_emulators.servo_rig.links import Links

Vec = NDArray[np.float64]


def make_links(
    urdf: Path, joint_names: Sequence[str], rpy: tuple[float, float, float]
) -> Links:
    """Return the bodies of an arm, computed by Pinocchio if it is installed.

    Raises:
        ValueError: If the URDF lacks a joint.
    """
    if find_spec("pinocchio") is None:
        return Links(urdf, joint_names, rpy)
    from paprle_emulators.servo_rig.pin_links import PinLinks  # noqa: PLC0415 - optional

    return PinLinks(urdf, joint_names, rpy)


def make_drives(
    servos: Sequence[ServoModel], gears: Sequence[float], links: Links | None
) -> Drives:
    """Return the drives of servos with outer gears; friction of a URDF prevails."""
    g = np.abs(np.array(gears, dtype=float))
    zero = np.zeros(len(g))
    viscous = np.array([model.viscous for model in servos]) * g**2
    coulomb = np.array([model.coulomb for model in servos]) * g
    damping, friction = (links.damping, links.friction) if links else (zero, zero)
    return Drives(
        inertia=np.array([model.inertia for model in servos]) * g**2,
        viscous=np.where(damping > 0, damping, viscous),
        coulomb=np.where(friction > 0, friction, coulomb),
        play=np.array([model.backlash for model in servos]) / g,
        stall_torque=np.array([model.stall_torque for model in servos]) * g,
        drag=zero,
    )
