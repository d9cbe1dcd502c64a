"""Links and drives of an arm."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from paprle_emulators.dynamixel.config import LimbSpec
from paprle_emulators.dynamixel.models import ServoModel
from paprle_emulators.servo_rig.arm import Drives
from paprle_emulators.servo_rig.links import Links
from paprle_emulators.servo_rig.plant import read_plant

if TYPE_CHECKING:
    from paprle_emulators.servo_rig.mujoco_links import MujocoLinks

Vec = NDArray[np.float64]


def make_links(spec: LimbSpec) -> Links | MujocoLinks | None:
    """Return bodies by MuJoCo, Pinocchio or numpy, if there is a model.

    Raises:
        ValueError: If the model lacks a joint.
        ModuleNotFoundError: If MuJoCo is needed and missing.
    """
    joints = [servo.joint for servo in spec.servos]
    if spec.plant is not None:
        return read_plant(spec.plant, joints)
    if spec.urdf is None:
        return None
    if find_spec("pinocchio") is None:
        return Links(spec.urdf, joints, spec.base_rpy)
    from paprle_emulators.servo_rig.pin_links import PinLinks  # noqa: PLC0415 - optional

    return PinLinks(spec.urdf, joints, spec.base_rpy)


def make_drives(
    servos: Sequence[ServoModel],
    gears: Sequence[float],
    links: Links | MujocoLinks | None,
) -> Drives:
    """Return servo drives; friction of a URDF prevails."""
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
