"""Bodies of ``gate.scene`` and of a robot's env."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pinocchio as pin

from paprle.contracts.scene_body import SceneBody
from paprle.contracts.settings.core import SceneBodySettings


def list_scene_bodies(
    scene: Mapping[str, SceneBodySettings], told: Sequence[Any] = ()
) -> tuple[SceneBody, ...]:
    """Return the bodies of scene and env, each name once."""
    kept = [_place(name, body) for name, body in scene.items()]
    world = [SceneBody(n, s, tuple(z), tuple(p), moves) for n, s, z, p, moves in told]
    return (*kept, *(body for body in world if body.name not in scene))


def _place(name: str, body: SceneBodySettings) -> SceneBody:
    x, y, z, w = pin.Quaternion(pin.rpy.rpyToMatrix(*body.rpy)).coeffs().tolist()
    return SceneBody(name, body.shape, tuple(body.size), (*body.xyz, x, y, z, w))
