"""The bodies around a robot: those of ``gate.scene``, and those its env reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pinocchio as pin

from paprle.contracts.scene_body import SceneBody
from paprle.contracts.settings.core import SceneBodySettings


def list_scene_bodies(
    scene: Mapping[str, SceneBodySettings], told: Sequence[Any] = ()
) -> tuple[SceneBody, ...]:
    """Return the bodies, each name once.

    Args:
        scene: Of ``gate.scene``, by name.
        told: What the gate's process said of its follower's world, as JSON gives it
            back.
    """
    kept = [_place(name, body) for name, body in scene.items()]
    world = [SceneBody(n, s, tuple(z), tuple(p), moves) for n, s, z, p, moves in told]
    return (*kept, *(body for body in world if body.name not in scene))


def _place(name: str, body: SceneBodySettings) -> SceneBody:
    x, y, z, w = pin.Quaternion(pin.rpy.rpyToMatrix(*body.rpy)).coeffs().tolist()
    return SceneBody(name, body.shape, tuple(body.size), (*body.xyz, x, y, z, w))
