"""Bodies around a robot."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import pinocchio as pin

from paprle.contracts.errors import ConfigError
from paprle.contracts.settings.core import SceneBodySettings
from paprle.robot.tree import Primitive

SIZES: Mapping[str, tuple[str, ...]] = {
    "box": ("x", "y", "z"),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "ground": (),
}
"""Meaning of the numbers of a shape's size."""


def make_scene(
    scene: Mapping[str, SceneBodySettings], links: Collection[str]
) -> tuple[Primitive, ...]:
    """Return a scene's bodies, each on a link of its own name.

    Raises:
        ConfigError: With all their problems.
    """
    problems = []
    for name, body in scene.items():
        names = SIZES[body.shape]
        if len(body.size) != len(names) or not all(s > 0.0 for s in body.size):
            problems.append(
                f"gate.scene.{name}.size: expected {_describe(body.shape)}, "
                f"got {list(body.size)}"
            )
        if name in links:
            problems.append(
                f"gate.scene.{name}: expected a name that no link has, got '{name}'; "
                "call it otherwise"
            )
    if problems:
        raise ConfigError(problems)
    return tuple(
        Primitive(
            link=name,
            T_link_body=pin.SE3(pin.rpy.rpyToMatrix(*body.rpy), np.array(body.xyz)),
            shape=body.shape,
            size=body.size,
        )
        for name, body in scene.items()
    )


def _describe(shape: str) -> str:
    names = SIZES[shape]
    if not names:
        return "no size, for a ground has none"
    return f"[{', '.join(names)}] of a {shape}, all above 0 [m]"
