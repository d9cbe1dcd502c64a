"""What each camera saw of a recorded episode, by ray casting in MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin

from benchmarks.camera_arm import metrics
from followers.mujoco.config import MujocoConfig
from followers.mujoco.scene import make_options
from hardware.mujoco.mechanism import make_mechanism
from hardware.mujoco.model import build_model
from paprle.contracts.types import SessionState
from paprle.hosts.plan import make_robot

RATE = 20.0  # [Hz] chosen: a glance lasts longer
PICTURES = 50.0  # [Hz] chosen: what a screen shows; finer is not seen
BALL = 0.06  # [m] radius of what moves about: a fist
_BEFORE = 0.08  # [m] what is looked at is that far before the flange: where fingers are
_AHEAD_OF_FLANGE = np.array([0.0, 0.0, _BEFORE])
SETTLE = 3.0  # [s] a camera may take to find its first place
R_SCREEN = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
"""A camera that looks along x of the world: what moves ahead is seen to."""


def place_occluder(t):
    """Where the ball is: it goes round above the table, across every line of sight."""
    a = 2.0 * np.pi * t / 9.0
    height = 0.40 + 0.06 * np.sin(2.0 * a)
    return np.array([0.5 + 0.25 * np.cos(a), 0.25 * np.sin(a), height])


def look_from(p, target):
    """Pose of a camera that is put somewhere and turned to a point, upright."""
    z = np.asarray(target) - p
    z = z / np.linalg.norm(z)
    x = np.cross(z, [0.0, 0.0, 1.0])
    x = (
        x / np.linalg.norm(x)
        if np.linalg.norm(x) > 1e-6
        else np.array([0.0, -1.0, 0.0])
    )
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.column_stack([x, np.cross(z, x), z]), p
    return T


STATIC = {
    "visibility": look_from(np.array([1.35, 0.0, 0.75]), (0.5, 0.0, 0.25)),
    "head": look_from(np.array([-0.35, 0.35, 1.2]), (0.5, 0.0, 0.25)),
    "overhead": look_from(np.array([0.5, 0.0, 1.6]), (0.5, 1e-9, 0.2)),
}
"""The three of the paper (C14): all of the scene, where a head would be, from above."""
T_TOOL_CAM = pin.SE3(
    pin.rpy.rpyToMatrix(0.6, 0.0, -np.pi / 2), np.array([0.09, 0, -0.02])
)
"""A camera beside the flange that looks past it at what fingers would hold."""


class Scene:
    """The robot, its world, the ball, and an eye to draw with."""

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
        self._hit = np.zeros(1, dtype=np.int32)

    def put(self, q, ball):
        self.data.qpos[self.places] = q
        self.data.mocap_pos[self.ball] = ball
        mujoco.mj_kinematics(self.model, self.data)

    def is_free(self, eye, target, carrier):
        """Whether nothing but what carries the camera is between two points."""
        way = target - eye
        far = float(np.linalg.norm(way))
        body = -1 if carrier is None else self.model.body(carrier).id
        hit = mujoco.mj_ray(
            self.model, self.data, eye, way / far, None, 1, body, self._hit
        )
        return hit < 0 or hit > far - 1e-3


class Judge:
    """Judges one episode."""

    def __init__(self, resolved, episode):
        self.robot = make_robot(resolved)
        gate, ticks = episode.gate, episode.ticks
        on = ticks["stamp_ns"][ticks["state"] == SessionState.ENGAGED]
        self.begin_ns = int(on[0])
        t = np.arange(on[0], on[-1], 1e9 / RATE)
        self.t = (t - on[0]) * 1e-9
        keep = self.t > SETTLE
        t, self.t = t[keep], self.t[keep]
        self.q = np.column_stack(
            [np.interp(t, gate["meas_ns"], c) for c in gate["q_meas"].T]
        )
        arm, camera = self.robot.limbs["arm"], self.robot.limbs["camera"]
        tools = [arm.fk(arm.take(q)) for q in self.q]
        self.target = np.array([T.act(_AHEAD_OF_FLANGE) for T in tools])
        self.hand_cam = np.array([(T * T_TOOL_CAM).homogeneous for T in tools])
        T_world_base = find_base(self.robot, camera.base_link)
        self.arm_cam = np.array(
            [(T_world_base * camera.fk(camera.take(q))).homogeneous for q in self.q]
        )
        stamps, asked = episode.target["camera"]
        on = np.flatnonzero(np.isfinite(asked).all(axis=1))
        self.asked = (stamps[on] * 1e-9, asked[on, :3])
        self.sent = self._find_sent(gate, ticks)
        self.scene = Scene(self.robot)
        self.views = []

    def _find_sent(self, gate, ticks):
        """Where the gate's command had the camera while it was driven.

        Returns:
            Times [s] and places, shape (N, 3), one per picture; without the end, where
            a leader that is gone stops the robot as fast as its joints can.
        """
        camera = self.robot.limbs["camera"]
        on = ticks["stamp_ns"][ticks["state"] == SessionState.ENGAGED]
        t = np.arange(on[0], on[-1], 1e9 / PICTURES)
        q = np.column_stack(
            [np.interp(t, gate["stamp_ns"], c) for c in gate["q_cmd"].T]
        )
        T = find_base(self.robot, camera.base_link)
        return t * 1e-9, np.array(
            [(T * camera.fk(camera.take(x))).translation for x in q]
        )

    def judge(self, poses, carrier=None):
        """Return the figures of a camera at these poses, shape (N, 4, 4)."""
        free = np.zeros(len(self.t), dtype=bool)
        for k, (t, q) in enumerate(zip(self.t, self.q, strict=True)):
            self.scene.put(q, place_occluder(t))
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


def find_base(robot, link):
    """T_world_link of a link that no joint moves."""
    joint, T = robot.link_places[link]
    if joint >= 0:
        raise ValueError(f"expected a link that stands, got '{link}'")
    return T
