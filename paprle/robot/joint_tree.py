"""Movable joints as one pinocchio model, for coal."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pinocchio as pin

from paprle.contracts.types import Vec
from paprle.contracts.urdf.mimic import Mimic
from paprle.robot.chain import make_joint_model
from paprle.robot.tree import Urdf


class JointTree:
    """All movable joints in one pinocchio model, mimics included.

    ``place`` is a link's joint and pose in it, ``moved_by`` a finger's gripper joint.
    """

    def __init__(
        self,
        urdf: Urdf,
        joint_names: Sequence[str],
        mimics: Sequence[Mimic],
        grippers: Collection[str] = (),
    ) -> None:
        self.model = pin.Model()
        self.n = len(joint_names)
        self.place: dict[str, tuple[int, pin.SE3]] = {
            urdf.root: (0, pin.SE3.Identity())
        }
        self.moved_by: dict[str, str] = {}
        followers = {mimic.joint: mimic for mimic in mimics}
        columns = {name: k for k, name in enumerate(joint_names)}
        rows: list[tuple[int, float, float]] = []
        for joint in urdf.joints:
            parent, T_joint_parent = self.place[joint.parent]
            T_joint_child = T_joint_parent * joint.T_parent_joint
            mimic = followers.get(joint.name)
            source = mimic.source if mimic else joint.name
            mover = source if source in grippers else self.moved_by.get(joint.parent)
            if mover is not None:
                self.moved_by[joint.child] = mover
            if not joint.is_movable:
                self.place[joint.child] = (parent, T_joint_child)
                continue
            joint_model = make_joint_model(joint.kind, np.array(joint.axis))
            added = self.model.addJoint(parent, joint_model, T_joint_child, joint.name)
            self.place[joint.child] = (added, pin.SE3.Identity())
            factor = (mimic.multiplier, mimic.offset) if mimic else (1.0, 0.0)
            rows.append((columns[source], *factor))
        self._columns = np.array([row[0] for row in rows], dtype=np.int64)
        self._scale = np.array([row[1] for row in rows])
        self._offset = np.array([row[2] for row in rows])

    def find_place(self, link: str) -> tuple[int, pin.SE3]:
        """Return the joint of a link or scene body, and its pose there."""
        return self.place.get(link, (0, pin.SE3.Identity()))

    def expand(self, q: Vec) -> Vec:
        """Return positions of all model joints from the robot's."""
        expanded: Vec = q[self._columns] * self._scale + self._offset
        return expanded

    def gather(self, J: Vec) -> Vec:
        """Return a Jacobian by the robot's vector from the model's."""
        gathered = np.zeros((len(J), self.n))
        np.add.at(gathered.T, self._columns, (J * self._scale).T)
        return gathered

    def find_columns(self, a: str, b: str) -> list[int]:
        """Return the robot's joints between two links."""
        ways = [set(self.model.supports[self.find_place(link)[0]]) for link in (a, b)]
        return sorted({int(self._columns[joint - 1]) for joint in ways[0] ^ ways[1]})
