"""Limbs that carry a camera: camera, target and zoom axis."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pinocchio as pin

from paprle.contracts.errors import ConfigError
from paprle.contracts.images import CameraInfo
from paprle.contracts.settings.retarget import LimbRuleSettings, RetargetSettings
from paprle.contracts.types import LeaderInfo, Vec
from paprle.retargeting.joint_sources import expect_one_of, listed
from paprle.retargeting.rules.look_at import LookPlaces
from paprle.robot import RobotModel
from paprle.robot.arrays import place_joints


def find_sights(
    robot: RobotModel,
    leader: LeaderInfo,
    settings: RetargetSettings,
    cameras: Mapping[str, CameraInfo],
) -> dict[str, LookPlaces]:
    """Return the sights of limbs with cameras.

    Raises:
        ConfigError: With all unknown names in the settings.
    """
    problems: list[str] = []
    sights = {}
    for name, rule in settings.limbs.items():
        if rule.rule != "look_at" or name not in robot.limbs:
            continue
        of = rule.of or ""  # which the pairing has checked
        sights[name] = LookPlaces(
            list(robot.limbs).index(of),
            place_link(robot, robot.limbs[of].base_link),
            place_link(robot, robot.limbs[name].base_link),
            _mount(robot, name, rule, cameras, problems),
            _find_axis(f"retarget.limbs.{name}.zoom", rule.zoom, leader, problems),
        )
    watched = {settings.limbs[name].of for name in sights}
    problems += [
        f"retarget.limbs.{name}.alignment: expected a limb with rule look_at and of: "
        f"{name}, whose camera gives the view, got none; add one, or use world or body"
        for name, rule in settings.limbs.items()
        if rule.alignment == "view" and name not in watched
    ]
    if problems:
        raise ConfigError(problems)
    return sights


def place_link(robot: RobotModel, link: str) -> Vec:
    """Return T_world_link at home, shape (4, 4)."""
    joint, T_joint_link = robot.link_places[link]
    if joint < 0:
        return np.array(T_joint_link.homogeneous)
    R, p = np.empty(robot.tree.R.shape), np.empty(robot.tree.p.shape)
    place_joints(robot.tree, robot.home, R, p)
    return np.array((pin.SE3(R[joint], p[joint]) * T_joint_link).homogeneous)


def _mount(
    robot: RobotModel,
    name: str,
    rule: LimbRuleSettings,
    cameras: Mapping[str, CameraInfo],
    problems: list[str],
) -> Vec:
    joint, T_joint_eef = robot.link_places[robot.limbs[name].eef_link]
    carried = {
        camera: T_joint_link * info.T_link_cam
        for camera, info in cameras.items()
        for at, T_joint_link in [robot.link_places.get(info.link, (-1, None))]
        if at == joint and T_joint_link is not None
    }
    where = f"retarget.limbs.{name}.camera"
    if rule.camera is not None and rule.camera not in carried:
        what = f"a camera on the hand of '{name}'"
        problems.append(expect_one_of(where, what, rule.camera, carried))
        return np.eye(4)
    if rule.camera is None and len(carried) > 1:
        problems.append(
            f"{where}: expected the name of one of its cameras, got none; there are "
            f"{listed(carried)}"
        )
        return np.eye(4)
    chosen = next(iter(carried), None) if rule.camera is None else rule.camera
    if chosen is None:  # its eef is the camera
        return np.eye(4)
    return np.array((T_joint_eef.inverse() * carried[chosen]).homogeneous)


def _find_axis(
    where: str, text: str | None, leader: LeaderInfo, problems: list[str]
) -> tuple[int, int] | None:
    if text is None:
        return None
    known = {
        f"{limb}/{axis}": (leader.limbs.index(limb), column)
        for limb, axes in leader.axes.items()
        for column, axis in enumerate(axes)
    }
    if text not in known:
        what = "a leader's limb and its axis, limb/axis"
        problems.append(expect_one_of(where, what, text, known))
    return known.get(text)
