"""Views of an episode, by MuJoCo's ray casting."""

from __future__ import annotations

import mujoco
import numpy as np

from benchmarks.camera_arm import metrics
from benchmarks.camera_arm.rigs import BALL, RIGS, SETTLE, Way
from paprle.contracts.types import SessionState
from paprle.followers.mujoco.config import MujocoConfig
from paprle.followers.mujoco.scene import make_options
from paprle.hardware.mujoco.mechanism import make_mechanism
from paprle.hardware.mujoco.model import build_model
from paprle.hosts.plan import make_robot

RATE = 20.0  # [Hz] chosen: a glance lasts longer
PICTURES = 50.0  # [Hz] chosen: what a screen shows; finer is not seen
FAR = 1.0  # [m] chosen: arms that are farther apart are far
R_SCREEN = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
"""A camera that looks along x of the world: what moves ahead is seen to."""


class Scene:
    """Robot, world, ball, and a camera."""

    def __init__(self, robot):
        mechanism = make_mechanism(robot.info)
        options = make_options(MujocoConfig(block=False), robot.info)
        spec = mujoco.MjSpec.from_string(build_model(mechanism, options).mjcf)
        ball = spec.worldbody.add_body()
        ball.name, ball.mocap = "ball", True
        geom = ball.add_geom()
        geom.type, geom.size = mujoco.mjtGeom.mjGEOM_SPHERE, (BALL, 0, 0)
        geom.rgba = (0.85, 0.2, 0.15, 1.0)
        eye = spec.worldbody.add_body()
        eye.name, eye.mocap = "eye", True
        eye.add_camera().fovy = np.rad2deg(metrics.Lens().fovy)
        self.model = spec.compile()
        self.ball, self.eye = (
            int(self.model.body(name).mocapid[0]) for name in ("ball", "eye")
        )
        self.data = mujoco.MjData(self.model)
        self.places = [self.model.joint(name).qposadr[0] for name in robot.joint_names]
        self._arms = [self._find_bodies(limb) for limb in robot.limbs.values()]
        self._hit = np.zeros(1, dtype=np.int32)

    def put(self, q, ball):
        self.data.qpos[self.places] = q
        self.data.mocap_pos[self.ball] = ball
        mujoco.mj_kinematics(self.model, self.data)

    def is_free(self, eye, target, carrier):
        """Return whether the line is free but for the carrier."""
        way = target - eye
        far = float(np.linalg.norm(way))
        body = -1 if carrier is None else self.model.body(carrier).id
        hit = mujoco.mj_ray(
            self.model, self.data, eye, way / far, None, 1, body, self._hit
        )
        return hit < 0 or hit > far - 1e-3

    def find_gap(self):
        """Return two arms' least distance by MuJoCo, [m]."""
        ours, others = self._arms
        return min(
            mujoco.mj_geomDistance(self.model, self.data, a, b, FAR, None)
            for a in ours
            for b in others
        )

    def _find_bodies(self, limb):
        below = {int(self.model.joint(limb.joint_names[0]).bodyid[0])}
        for body in range(self.model.nbody):
            if int(self.model.body_parentid[body]) in below:
                below.add(body)
        return [
            geom
            for geom in range(self.model.ngeom)
            if int(self.model.geom_bodyid[geom]) in below
            and self.model.geom_contype[geom] | self.model.geom_conaffinity[geom]
        ]


class Judge:
    """Judge of one episode of a rig."""

    def __init__(self, resolved, episode, way=None):
        self.robot = make_robot(resolved)
        self.rig = RIGS[self.robot.info.name]
        self.way = way or Way()
        gate, ticks = episode.gate, episode.ticks
        on = ticks["stamp_ns"][ticks["state"] == SessionState.ENGAGED]
        self.begin_ns = int(on[0])
        t = np.arange(on[0], on[-1], 1e9 / RATE)
        self.t = (t - on[0]) * 1e-9
        keep = self.t > SETTLE
        t, self.t = t[keep], self.t[keep]
        self.q = _read_at(t, gate["meas_ns"], gate["q_meas"])
        arm = self.robot.limbs[self.rig.arm]
        T_base = find_base(self.robot, arm.base_link)
        tools = [T_base * arm.fk(arm.take(q)) for q in self.q]
        fingers = np.array(self.rig.p_tool_fingers)
        self.target = np.array([T.act(fingers) for T in tools])
        self.hand_cam = np.array([(T * self.rig.T_tool_cam).homogeneous for T in tools])
        self.arm_cam = np.array([T.homogeneous for T in self._place_camera(self.q)])
        stamps, asked = episode.target[self.rig.camera]
        on = np.flatnonzero(np.isfinite(asked).all(axis=1))
        self.asked = (stamps[on] * 1e-9, asked[on, :3])
        self.sent = self._find_sent(gate, ticks)
        self.scene = Scene(self.robot)
        self.views = []

    def _place_camera(self, postures):
        camera = self.robot.limbs[self.rig.camera]
        T_base = find_base(self.robot, camera.base_link)
        return [T_base * camera.fk(camera.take(q)) for q in postures]

    def _find_sent(self, gate, ticks):
        on = ticks["stamp_ns"][ticks["state"] == SessionState.ENGAGED]
        t = np.arange(on[0], on[-1], 1e9 / PICTURES)
        q = _read_at(t, gate["stamp_ns"], gate["q_cmd"])
        return t * 1e-9, np.array([T.translation for T in self._place_camera(q)])

    def find_gap(self):
        """Return two arms' least measured distance, [m]."""
        gaps = []
        for q in self.q:
            self.scene.put(q, self.way.place(0.0))
            gaps.append(self.scene.find_gap())
        return min(gaps)

    def judge(self, poses, carrier=None):
        """Return camera poses' figures, (N, 4, 4)."""
        free = np.zeros(len(self.t), dtype=bool)
        for k, (t, q) in enumerate(zip(self.t, self.q, strict=True)):
            self.scene.put(q, self.way.place(t))
            free[k] = self.scene.is_free(poses[k, :3, 3], self.target[k], carrier)
        seen = metrics.is_in_frame(poses, self.target)
        far = np.linalg.norm(poses[:, :3, 3] - self.target, axis=1)
        self.views.append(seen & free)
        return {
            "in_frame": float(seen.mean()),
            "free": float((seen & free).mean()),
            "angle_deg": float(
                np.rad2deg(np.median(metrics.find_angles(poses, self.target)))
            ),
            "roll_deg": float(np.rad2deg(np.median(metrics.find_rolls(poses)))),
            "distance": float(np.median(far)),
            "turn_deg": float(
                np.rad2deg(np.median(metrics.find_turns(poses, R_SCREEN)))
            ),
        }


def _read_at(t, stamps, rows):
    return np.column_stack([np.interp(t, stamps, column) for column in rows.T])


def find_base(robot, link):
    """Return T_world_link of an unmoved link."""
    joint, T = robot.link_places[link]
    if joint >= 0:
        raise ValueError(f"expected a link that stands, got '{link}'")
    return T
