"""Robots of this project by the model that a controller reports."""

from __future__ import annotations

import re

_MODEL = re.compile(r"^ur(\d+)e?(?:$|_)")


def find_other_model(robot: str, model: str) -> str:
    """Return why a robot's name contradicts its controller's model, or "".

    Args:
        robot: As ``follower=`` names it; one that names no model fits all.
        model: As the dashboard reports it: UR3, UR5 …
    """
    found = _MODEL.match(robot)
    if found is None or f"UR{found[1]}" == model:
        return ""
    return (
        f"expected the controller of a UR{found[1]}, as the robot is '{robot}', got "
        f"one of a {model}"
    )
