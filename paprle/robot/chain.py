"""A limb: forward kinematics and Jacobian of one chain of joints.

The chain has a pinocchio model of its own, rooted in the base link and made of the
limb's joints alone, so that ``oMf[frame_id]`` is ``T_base_eef`` and nq = nv = n. All
other joints on the way stand where they are held; a joint that mimics one of the limb
moves with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from paprle.robot.tree import Urdf, UrdfJoint
from paprle.types import LimbInfo, Mimic, RobotInfo, Vec, readonly

Step = tuple[UrdfJoint, bool]
"""A joint on the way and whether it is passed from parent to child."""


def chain_between(urdf: Urdf, base_link: str, eef_link: str) -> list[Step]:
    """Return the joints on the way from one link to another, in order."""
    up = urdf.chain_to(base_link)
    down = urdf.chain_to(eef_link)
    while up and down and up[0].name == down[0].name:
        up, down = up[1:], down[1:]
    return [(joint, False) for joint in reversed(up)] + [(j, True) for j in down]


def make_chain_model(
    steps: Sequence[Step],
    joint_names: Sequence[str],
    q_held: Mapping[str, float],
    mimics: Mapping[str, Mimic],
) -> tuple[pin.Model, int]:
    """Make the pinocchio model of a chain.

    Args:
        steps: The joints on the way.
        joint_names: Those that move; in the order of the way.
        q_held: Where all others stand, [rad] or [m].
        mimics: Mimics by joint.

    Returns:
        The model and the id of the frame of the end-effector.
    """
    model = pin.Model()
    parent, T_parent_next = 0, pin.SE3.Identity()
    copies: list[Mimic] = []
    for joint, is_down in steps:
        mimic = mimics.get(joint.name)
        is_copy = mimic is not None and mimic.source in joint_names
        if not is_copy and joint.name not in joint_names:
            T_step = joint.T_parent_child(q_held.get(joint.name, 0.0))
            T_parent_next = T_parent_next * (T_step if is_down else T_step.inverse())
            continue
        if mimic is not None and is_copy:
            copies.append(mimic)
        # Upwards, T_child_parent(q) = motion(-q) · T_parent_joint⁻¹.
        placement = T_parent_next * joint.T_parent_joint if is_down else T_parent_next
        axis = np.array(joint.axis if is_down else -joint.axis)
        parent = model.addJoint(
            parent, make_joint_model(joint.kind, axis), placement, joint.name
        )
        T_parent_next = (
            pin.SE3.Identity() if is_down else joint.T_parent_joint.inverse()
        )
    frame = pin.Frame("eef", parent, 0, T_parent_next, pin.FrameType.OP_FRAME)
    model.addFrame(frame)
    for copy in copies:
        model = pin.transformJointIntoMimic(
            model,
            model.getJointId(copy.source),
            model.getJointId(copy.joint),
            copy.multiplier,
            copy.offset,
        )
    return model, model.getFrameId("eef")


def make_joint_model(kind: str, axis: npt.NDArray[np.float64]) -> pin.JointModel:
    """Return a joint with one coordinate; aligned where its axis is, for speed."""
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
    """One limb of a robot.

    Attributes:
        name: Its name.
        base_link: Link in which its poses are expressed.
        eef_link: Its end-effector link.
        joint_names: Its joints from base to eef.
        indices: Their places in the robot's vector, shape (n_l,).
        q_min: Lower position limits, shape (n_l,), [rad] or [m].
        q_max: Upper position limits, shape (n_l,).
        dq_max: Velocity limits, shape (n_l,), [rad/s] or [m/s].
        home: Home position, shape (n_l,).
        gripper: Its gripper, if it has one.
        model: Pinocchio model of the chain, nq = nv = n_l.
        data: Data of this model; not for two threads at once.
        frame_id: Frame of the eef: ``data.oMf[frame_id]`` is T_base_eef.
    """

    def __init__(
        self, info: LimbInfo, robot: RobotInfo, model: pin.Model, frame_id: int
    ) -> None:
        self.name = info.name
        self.base_link, self.eef_link = info.base_link, info.eef_link
        self.joint_names = info.joint_names
        self.gripper = info.gripper
        self.indices = np.array([robot.joint_names.index(j) for j in info.joint_names])
        self.q_min = readonly(self.take(robot.q_min))
        self.q_max = readonly(self.take(robot.q_max))
        self.dq_max = readonly(self.take(robot.dq_max))
        self.home = readonly(self.take(robot.home))
        self.model = model
        self.data = model.createData()
        self.frame_id = frame_id

    def fk(self, q: Vec) -> pin.SE3:
        """Return T_base_eef at q, shape (n_l,)."""
        pin.forwardKinematics(self.model, self.data, q)
        return pin.updateFramePlacement(self.model, self.data, self.frame_id).copy()

    def jacobian(self, q: Vec) -> Vec:
        """Return the body Jacobian of T_base_eef at q.

        Returns:
            Shape (6, n_l), linear first, expressed in the eef.
        """
        J: Vec = pin.computeFrameJacobian(
            self.model, self.data, q, self.frame_id, pin.LOCAL
        ).reshape(6, -1)  # of a single joint pinocchio returns shape (6,)
        return J

    def take(self, q_robot: Vec) -> Vec:
        """Return the limb's part, shape (n_l,), of a robot vector, shape (n,)."""
        part: Vec = q_robot[self.indices]
        return part

    def put(self, q_robot: Vec, q_limb: Vec) -> Vec:
        """Return the robot vector, shape (n,), with the limb's part replaced."""
        q = q_robot.copy()
        q[self.indices] = q_limb
        return q
