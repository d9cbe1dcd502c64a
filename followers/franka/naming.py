"""Names of robots that fit a unit."""

from __future__ import annotations

from paprle.hardware.franka.models import MODELS, Model

_FIRST = "fr3"  # chosen: of a name without a model; the unit refuses another version


def find_model(robot: str) -> Model:
    """Return the model of a ``follower=`` name, as in ``panda`` or ``lab_panda``."""
    words = robot.split("_")
    return MODELS[next((word for word in words if word in MODELS), _FIRST)]
