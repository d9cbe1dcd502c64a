"""Names of robots that fit a controller's model."""

from __future__ import annotations

import re

_MODEL = re.compile(r"^ur(\d+)e?(?:$|_)")


def find_other_model(robot: str, model: str) -> str:
    """Return a contradiction of robot name and model, or "".

    ``robot`` is of ``follower=``; without a model it fits all. ``model`` is UR3, UR5 …
    """
    found = _MODEL.match(robot)
    if found is None or f"UR{found[1]}" == model:
        return ""
    return (
        f"expected the controller of a UR{found[1]}, as the robot is '{robot}', got "
        f"one of a {model}"
    )
