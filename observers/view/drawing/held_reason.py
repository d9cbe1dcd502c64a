"""Reason of a hold."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import viser

from paprle.contracts.proximity import Near
from paprle.contracts.types import RobotInfo, Vec
from paprle.observers.view.drawing.bodies import Robot


class HeldReason:
    """A label in the scene."""

    def __init__(
        self, server: viser.ViserServer, robot: Robot, info: RobotInfo
    ) -> None:
        self._robot, self._info = robot, info
        self._label = server.scene.add_label(
            "/held", "", anchor="bottom-center", visible=False
        )

    def show(self, reason: str, near: Sequence[Near]) -> None:
        """Draw a reason, if any; ``near`` is sorted."""
        self._label.visible = bool(reason)
        if reason:
            self._label.text = reason
            self._label.position = self._find_place(reason, near)

    def _find_place(self, reason: str, near: Sequence[Near]) -> Vec:
        named = set(re.findall(r"[\w.-]+", reason))
        for one in near:
            if named.issuperset(one.links):
                return np.asarray(one.points.mean(axis=0))
        for joint in self._info.joint_names:
            if joint in named:
                return np.asarray(self._robot.find_joint(joint).translation)
        limbs = self._info.limbs
        limb = next((limb for limb in limbs if limb.name in named), limbs[0])
        return np.asarray(self._robot.find(limb.eef_link).translation)
