"""The rendered model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from paprle.cameras.mujoco.config import MujocoCameraConfig
from paprle.cameras.mujoco.segments import FIRST_LINK, WORLD, name_segments
from paprle.contracts.images import CameraInfo, RobotPose
from paprle.contracts.types import RobotInfo, Vec
from paprle.contracts.urdf.models import make_pin_model
from paprle.hardware.mujoco.mechanism import (
    BLOCK,
    TARGET,
    Mechanism,
    ModelOptions,
    make_mechanism,
)
from paprle.hardware.mujoco.model import build_model

_CAMERA = "paprle_camera"
# spec: MuJoCo, "Cameras": x to the right, y up, and it looks along −z
_R_CAM_MUJOCO = np.diag([1.0, -1.0, -1.0])
_XYZW_OF_WXYZ = (3, 0, 1, 2)
_AWAY = (0.0, 0.0, -1000.0)  # [m] chosen: below any floor: an object that is not there


@dataclass
class World:
    """A model and its state."""

    model: mujoco.MjModel
    data: mujoco.MjData
    camera: mujoco.MjvCamera
    mechanism: Mechanism
    ids: npt.NDArray[np.uint16]

    def put(self, pose: RobotPose) -> None:
        """Pose the robot and objects."""
        model, data = self.model, self.data
        q = dict(zip(self.mechanism.joint_names, pose.q.tolist(), strict=True))
        for mimic in self.mechanism.mimics:
            q[mimic.joint] = mimic.multiplier * q[mimic.source] + mimic.offset
        for name, position in q.items():
            data.qpos[model.joint(name).qposadr[0]] = position
        for joint in range(model.njnt):
            if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
                name = model.joint(joint).name
                at = model.jnt_qposadr[joint]
                data.qpos[at : at + 7] = _to_free(pose.objects.get(name))
        mujoco.mj_kinematics(model, data)
        mujoco.mj_camlight(model, data)


def make_world(
    robot: RobotInfo,
    env: Mapping[str, Any],
    config: MujocoCameraConfig,
    info: CameraInfo,
) -> World:
    """Return the model to render.

    Raises:
        ValueError: If a link is missing, or MuJoCo cannot render the robot.
    """
    mechanism = make_mechanism(robot)
    has_table, has_block = bool(env.get("table", True)), bool(env.get(BLOCK, False))
    scenario = env.get("scenario")
    target = None if scenario is None else tuple(scenario[TARGET])
    options = ModelOptions(has_table=has_table, has_block=has_block, target=target)
    spec = mujoco.MjSpec.from_string(build_model(mechanism, options).mjcf)
    body = _find_body(spec, info.link, mechanism)
    camera = body.add_camera()
    camera.name, camera.fovy = _CAMERA, config.fovy
    camera.pos = info.T_link_cam.translation
    rotation = pin.Quaternion(info.T_link_cam.rotation @ _R_CAM_MUJOCO)
    camera.quat = rotation.coeffs()[list(_XYZW_OF_WXYZ)]
    model = spec.compile()
    view = mujoco.MjvCamera()
    view.type = mujoco.mjtCamera.mjCAMERA_FIXED
    view.fixedcamid = model.camera(_CAMERA).id
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return World(model, data, view, mechanism, _number_geoms(model, mechanism))


def _number_geoms(
    model: mujoco.MjModel, mechanism: Mechanism
) -> npt.NDArray[np.uint16]:
    urdf = mechanism.urdf_path.read_text(encoding="utf-8")
    names = name_segments(urdf).items()
    links = {name: number for number, name in names if number >= FIRST_LINK}
    ids = np.zeros(model.ngeom + 1, dtype=np.uint16)
    for i in range(model.ngeom):
        geom = model.geom(i).name
        ids[i] = WORLD.get(geom) or links[geom.rpartition("_")[0]]
    return ids


def _find_body(spec: mujoco.MjSpec, link: str, mechanism: Mechanism) -> Any:
    """Return a link's body; the root is MuJoCo's world."""
    bodies = {body.name: body for body in spec.bodies}
    if link in bodies:
        return bodies[link]
    root = make_pin_model(mechanism.urdf_path)
    first = next(f.name for f in root.frames if f.type == pin.FrameType.BODY)
    if link not in {"", first}:
        known = ", ".join(sorted({first, *bodies} - {"world"}))
        raise ValueError(
            f"link: expected a link of the robot, got '{link}'; it has: {known}"
        )
    return spec.worldbody


def _to_free(row: Vec | None) -> Vec:
    if row is None:
        return np.array([*_AWAY, 1.0, 0.0, 0.0, 0.0])
    return np.array([*row[:3], row[6], *row[3:6]])
