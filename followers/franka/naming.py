"""Names of robots that fit a unit."""

from __future__ import annotations

_MODELS = ("fr3",)  # spec: libfranka 0.21, version 10 of its protocol
_OLDER = ("panda",)  # spec: libfranka's compatibility table, version 5


def find_other_model(robot: str) -> str:
    """Return why a robot is not driven by this SDK, or "".

    A ``follower=`` name without a model fits all.
    """
    name = robot.partition("_")[0]
    if name not in _OLDER:
        return ""
    return (
        f"expected one of {', '.join(_MODELS)}, got '{name}': its control unit speaks "
        "version 5 of the protocol, pylibfranka version 10 alone; drive it by "
        "env=ros2 with franka_ros2 or franka_ros"
    )
