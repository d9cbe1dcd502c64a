"""A user's model as plant."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paprle_emulators.servo_rig.mujoco_links import MujocoLinks


def read_plant(model: Path, joints: Sequence[str]) -> MujocoLinks:
    """Return bodies by a MuJoCo model.

    Raises:
        ValueError: If MuJoCo refuses it, or it lacks a joint.
        ModuleNotFoundError: If MuJoCo is missing.
    """
    if find_spec("mujoco") is None:
        raise ModuleNotFoundError(
            "plant: expected MuJoCo, got none; pip install 'paprle-emulators[mujoco]'"
        )
    from paprle_emulators.servo_rig.mujoco_links import (  # noqa: PLC0415 - optional
        MujocoLinks,
    )

    return MujocoLinks(model, joints)
