"""Floor, table and block beside a robot."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from paprle.hardware.mujoco.mechanism import BLOCK, TARGET, TARGET_HALF_SIZE, Vec

_DESK_HEIGHT = 0.75  # [m] chosen: a desk
_TABLE_HALF_SIZE = (0.6, 0.7, 0.02)  # [m] chosen: reaches 1 m before the base
_TABLE_AHEAD = 0.4  # [m] chosen: the base stands near its rear edge
_LEG_ROOM = 0.3  # [m] chosen: bent legs can stretch
_OVERHANG = 0.05  # [m] chosen: links lower than this below the base are legs

_SKY, _HORIZON = (0.93, 0.95, 0.98), (0.62, 0.70, 0.80)  # chosen: light paper

_BLOCK_HALF_SIZE = 0.015  # [m] chosen: fits between the fingers of the smallest robot
_TARGET_HALF_HEIGHT = 0.0005  # [m] chosen: paper on a table
_BLOCK_MASS = 0.05  # [kg] chosen: wood, rounded up
_BLOCK_FRICTION = (1.0, 0.01, 0.0001)  # chosen: rubber pads on wood; twist and roll
_BLOCK_SOLREF = (0.004, 1.0)  # chosen: stiff, four steps of 1 ms


@dataclass(frozen=True, slots=True)
class WorldLayout:
    """Places in the world, [m].

    Attributes:
        block: On its support, shape (3,).
    """

    floor: float
    table: float | None
    block: Vec | None


def find_place(
    model: mujoco.MjModel, data: mujoco.MjData, eef_link: str
) -> WorldLayout:
    """Return the layout for a robot at home; ``eef_link`` is over the block."""
    is_static = model.body_weldid[model.geom_bodyid] == 0
    lows = data.geom_xpos[:, 2] - _compute_drops(model, data)
    base = float(lows[is_static].min()) if is_static.any() else 0.0
    lowest = float(lows[~is_static].min()) if (~is_static).any() else base
    if lowest < base - _OVERHANG:
        return WorldLayout(lowest - _LEG_ROOM, None, None)
    table: float | None = base
    support = base
    eef = data.body(eef_link).xpos if eef_link else None
    if eef is not None:
        height = _find_support(model, data, eef)
        if height is not None:
            table, support = None, height
    block = None
    if eef is not None:
        block = np.array([eef[0], eef[1], support + _BLOCK_HALF_SIZE])
    return WorldLayout(base - _DESK_HEIGHT, table, block)


def add_world(spec: mujoco.MjSpec, place: WorldLayout) -> None:
    """Add sky, light, floor, table and block."""
    sky = spec.add_texture()
    sky.name, sky.type = "sky", mujoco.mjtTexture.mjTEXTURE_SKYBOX
    sky.builtin = mujoco.mjtBuiltin.mjBUILTIN_GRADIENT
    sky.rgb1, sky.rgb2, sky.width, sky.height = _SKY, _HORIZON, 256, 1536
    light = spec.worldbody.add_light()
    light.pos, light.dir = (1.2, -1.2, 2.8), (-0.35, 0.4, -1.0)
    light.ambient, light.diffuse = (0.25, 0.25, 0.25), (0.6, 0.6, 0.6)
    floor = _add_geom(spec.worldbody, "floor", mujoco.mjtGeom.mjGEOM_PLANE)
    floor.size, floor.pos = (3.0, 3.0, 0.1), (0.0, 0.0, place.floor)
    floor.rgba = (0.55, 0.58, 0.62, 1.0)
    if place.table is not None:
        table = _add_geom(spec.worldbody, "table", mujoco.mjtGeom.mjGEOM_BOX)
        table.size = _TABLE_HALF_SIZE
        table.pos = (_TABLE_AHEAD, 0.0, place.table - _TABLE_HALF_SIZE[2])
        table.rgba = (0.76, 0.64, 0.48, 1.0)
    if place.block is not None:
        _add_block(spec, place.block)


def find_support(block: Vec) -> float:
    """Return a block's support, [m]."""
    return float(block[2]) - _BLOCK_HALF_SIZE


def add_target(
    spec: mujoco.MjSpec, position: tuple[float, float], support: float
) -> None:
    """Add a red square without contact; colour the block blue."""
    target = _add_geom(spec.worldbody, TARGET, mujoco.mjtGeom.mjGEOM_BOX)
    target.size = (TARGET_HALF_SIZE, TARGET_HALF_SIZE, _TARGET_HALF_HEIGHT)
    target.pos = (*position, support + _TARGET_HALF_HEIGHT)
    target.rgba = (0.85, 0.15, 0.12, 1.0)
    target.contype = target.conaffinity = 0
    spec.geom(BLOCK).rgba = (0.15, 0.35, 0.80, 1.0)


def _add_block(spec: mujoco.MjSpec, position: Vec) -> None:
    body = spec.worldbody.add_body()
    body.name, body.pos = BLOCK, position
    joint = body.add_freejoint()
    joint.name = BLOCK
    block = _add_geom(body, BLOCK, mujoco.mjtGeom.mjGEOM_BOX)
    block.size = (_BLOCK_HALF_SIZE,) * 3
    block.mass = _BLOCK_MASS
    block.condim = 4
    block.friction, block.solref = _BLOCK_FRICTION, _BLOCK_SOLREF
    block.priority = 1
    block.rgba = (0.80, 0.25, 0.20, 1.0)


def _add_geom(body: mujoco.MjsBody, name: str, kind: mujoco.mjtGeom) -> mujoco.MjsGeom:
    geom = body.add_geom()
    geom.name, geom.type = name, kind
    return geom


def _compute_drops(model: mujoco.MjModel, data: mujoco.MjData) -> Vec:
    halves = np.zeros((model.ngeom, 3))
    for k in range(model.ngeom):
        kind, size = model.geom_type[k], model.geom_size[k]
        if kind == mujoco.mjtGeom.mjGEOM_BOX:
            halves[k] = size
        elif kind == mujoco.mjtGeom.mjGEOM_SPHERE:
            halves[k] = size[0] / np.sqrt(3)
        else:  # cylinders and capsules: the box around them
            rim = size[0] if kind == mujoco.mjtGeom.mjGEOM_CAPSULE else 0.0
            halves[k] = size[0], size[0], size[1] + rim
    down = np.abs(data.geom_xmat.reshape(-1, 3, 3)[:, 2, :])
    drops: Vec = (down * halves).sum(axis=1)
    return drops


def _find_support(
    model: mujoco.MjModel, data: mujoco.MjData, point: Vec
) -> float | None:
    lower = point.copy()
    hit = np.zeros(1, dtype=np.int32)
    while True:
        distance = mujoco.mj_ray(
            model, data, lower, np.array([0.0, 0.0, -1.0]), None, 1, -1, hit
        )
        if hit[0] < 0:
            return None
        lower[2] -= distance
        if model.body_weldid[model.geom_bodyid[hit[0]]] == 0:
            return float(lower[2])
        lower[2] -= 1e-4  # [m] chosen: into the moving link, to look through it
