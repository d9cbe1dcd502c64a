"""Forward kinematics and Jacobian of a limb, by its own model, nq = nv = n."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from paprle.contracts.errors import CommandError
from paprle.contracts.types import LimbInfo, RobotInfo, Vec, readonly
from paprle.contracts.urdf.mimic import Mimic
from paprle.robot.arrays import Tree, TreeJoint, make_tree
from paprle.robot.tree import Urdf, UrdfJoint

Step = tuple[UrdfJoint, bool]
"""A joint on the way and whether it is passed from parent to child."""


def chain_between(urdf: Urdf, base_link: str, eef_link: str) -> list[Step]:
    """Return the joints from one link to another."""
    up = urdf.chain_to(base_link)
    down = urdf.chain_to(eef_link)
    while up and down and up[0].name == down[0].name:
        up, down = up[1:], down[1:]
    return [(joint, False) for joint in reversed(up)] + [(j, True) for j in down]


class Chain(NamedTuple):
    """A chain of joints, as model and arrays."""

    model: pin.Model
    frame_id: int
    tree: Tree
    T_last_eef: pin.SE3


def make_chain(
    steps: Sequence[Step],
    joint_names: Sequence[str],
    q_held: Mapping[str, float],
    mimics: Mapping[str, Mimic],
) -> Chain:
    """Return a chain; other joints stand at ``q_held``, [rad] or [m]."""
    names: list[str] = []
    joints: list[TreeJoint] = []
    T_parent_next = pin.SE3.Identity()
    for joint, is_down in steps:
        mimic = mimics.get(joint.name)
        source, scale, offset = joint.name, 1.0, 0.0
        if mimic is not None and mimic.source in joint_names:
            source, scale, offset = mimic.source, mimic.multiplier, mimic.offset
        if source not in joint_names:
            T_step = joint.T_parent_child(q_held.get(joint.name, 0.0))
            T_parent_next = T_parent_next * (T_step if is_down else T_step.inverse())
            continue
        # Upwards, T_child_parent(q) = motion(-q) · T_parent_joint⁻¹.
        names.append(joint.name)
        joints.append(
            TreeJoint(
                parent=len(joints) - 1,
                placement=T_parent_next * joint.T_parent_joint
                if is_down
                else T_parent_next,
                axis=np.array(joint.axis if is_down else -joint.axis),
                is_prismatic=joint.kind == "prismatic",
                column=joint_names.index(source),
                scale=scale,
                offset=offset,
            )
        )
        T_parent_next = (
            pin.SE3.Identity() if is_down else joint.T_parent_joint.inverse()
        )
    model = _make_model(names, joints, T_parent_next, joint_names)
    return Chain(model, model.getFrameId("eef"), make_tree(joints), T_parent_next)


def _make_model(
    names: Sequence[str],
    joints: Sequence[TreeJoint],
    T_last_eef: pin.SE3,
    joint_names: Sequence[str],
) -> pin.Model:
    model = pin.Model()
    parent = 0
    for name, joint in zip(names, joints, strict=True):
        kind = "prismatic" if joint.is_prismatic else "revolute"
        parent = model.addJoint(
            parent, make_joint_model(kind, joint.axis), joint.placement, name
        )
    model.addFrame(pin.Frame("eef", parent, 0, T_last_eef, pin.FrameType.OP_FRAME))
    for name, joint in zip(names, joints, strict=True):
        source = joint_names[joint.column]
        if source != name:
            model = pin.transformJointIntoMimic(
                model,
                model.getJointId(source),
                model.getJointId(name),
                joint.scale,
                joint.offset,
            )
    return model


def make_joint_model(kind: str, axis: npt.NDArray[np.float64]) -> pin.JointModel:
    """Return a joint with one coordinate, aligned if possible."""
    letter = "XYZ"[int(np.argmax(axis))]
    is_aligned = bool(np.max(axis) > 1.0 - 1e-12)
    if kind == "prismatic":
        aligned = {"X": pin.JointModelPX, "Y": pin.JointModelPY, "Z": pin.JointModelPZ}
        if is_aligned:
            return aligned[letter]()
        return pin.JointModelPrismaticUnaligned(axis)
    aligned = {"X": pin.JointModelRX, "Y": pin.JointModelRY, "Z": pin.JointModelRZ}
    return aligned[letter]() if is_aligned else pin.JointModelRevoluteUnaligned(axis)


class Limb:
    """One limb of a robot; positions of another shape raise CommandError.

    Vectors are (n_l,), [rad] or [m], speeds [rad/s] or [m/s].

    Attributes:
        indices: In the robot's vector.
        data: Not thread-safe.
        frame_id: ``data.oMf[frame_id]`` is T_base_eef.
        R_eef: Eef in the last joint, (3, 3).
        p_eef: Origin there, (3,), [m].
    """

    def __init__(self, info: LimbInfo, robot: RobotInfo, chain: Chain) -> None:
        self.name = info.name
        self.base_link, self.eef_link = info.base_link, info.eef_link
        self.joint_names = info.joint_names
        self.gripper = info.gripper
        self.indices = np.array([robot.joint_names.index(j) for j in info.joint_names])
        self._n_robot = len(robot.joint_names)
        self.q_min = readonly(self.take(robot.q_min))
        self.q_max = readonly(self.take(robot.q_max))
        self.dq_max = readonly(self.take(robot.dq_max))
        self.home = readonly(self.take(robot.home))
        self.model = chain.model
        self.data = chain.model.createData()
        self.frame_id = chain.frame_id
        self.tree = chain.tree
        self.R_eef = readonly(chain.T_last_eef.rotation)
        self.p_eef = readonly(chain.T_last_eef.translation)

    def fk(self, q: Vec) -> pin.SE3:
        """Return T_base_eef at q, (n_l,), with NaN if q has any."""
        pin.forwardKinematics(self.model, self.data, self.as_vector(q))
        return pin.updateFramePlacement(self.model, self.data, self.frame_id).copy()

    def jacobian(self, q: Vec) -> Vec:
        """Return the body Jacobian of T_base_eef at q, (6, n_l), linear first."""
        J: Vec = pin.computeFrameJacobian(
            self.model, self.data, self.as_vector(q), self.frame_id, pin.LOCAL
        ).reshape(6, -1)  # of a single joint pinocchio returns shape (6,)
        return J

    def take(self, q_robot: Vec) -> Vec:
        """Return the limb's part, (n_l,), of a robot vector, (n,)."""
        part: Vec = self._as_robot_vector(q_robot)[self.indices]
        return part

    def put(self, q_robot: Vec, q_limb: Vec) -> Vec:
        """Return a robot vector, (n,), with the limb's part replaced."""
        q = self._as_robot_vector(q_robot).copy()
        q[self.indices] = self.as_vector(q_limb)
        return q

    def as_vector(self, q: Vec) -> Vec:
        """Return positions as float64, (n_l,)."""
        vector = _as_numbers(q)
        if vector.shape != self.indices.shape:
            raise CommandError(
                f"limb '{self.name}': expected its {len(self.indices)} joint "
                f"positions, got {_tell(q, vector)}; give one for each of "
                "limb.joint_names"
            )
        return vector

    def _as_robot_vector(self, q_robot: Vec) -> Vec:
        vector = _as_numbers(q_robot)
        if vector.shape[:1] != (self._n_robot,):
            raise CommandError(
                f"limb '{self.name}': expected {self._n_robot} joint positions of the "
                f"whole robot, got {_tell(q_robot, vector)}; give one for each of "
                "robot.joint_names"
            )
        return vector


def _as_numbers(values: npt.ArrayLike) -> Vec:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return np.array(np.nan)


def _tell(values: object, vector: Vec) -> str:
    return f"shape {vector.shape}" if vector.shape else repr(values)
