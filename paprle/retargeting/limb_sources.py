"""Sources that may drive each limb."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.axes import AxisSpeeds
from paprle.contracts.errors import ConfigError
from paprle.contracts.images import CameraInfo
from paprle.contracts.kit.leader_group import find_part
from paprle.contracts.settings.retarget import LimbRuleSettings, RetargetSettings
from paprle.contracts.types import LeaderInfo, Vec
from paprle.retargeting.camera_limbs import find_sights, place_link
from paprle.retargeting.pairing import LimbSource, Pairing
from paprle.retargeting.rules.axes import AxesRule, Meaning
from paprle.retargeting.rules.base import LimbRule
from paprle.retargeting.rules.follow import Chase, FollowRule
from paprle.retargeting.rules.joints import JointsRule
from paprle.retargeting.rules.look_at import LookAtRule, LookPlaces
from paprle.retargeting.rules.modes import BUILT_IN, make_modes
from paprle.retargeting.rules.poses import AbsoluteRule, RelativeRule
from paprle.retargeting.rules.view import ViewRule
from paprle.robot import RobotModel
from paprle.robot.chain import Limb

POSE = 7  # numbers of a pose


class Slot(NamedTuple):
    """One source of one limb.

    Attributes:
        gripper: Place of the gripper's joint; -1: none.
        opening: Place in ``SampleView.numbers``.
        gripper_line: Gain, offset and bounds from opening to joint, shape (4,).
    """

    row: int
    rule: LimbRule[Any]
    gripper: int
    opening: int
    gripper_line: Vec


def make_slots(
    robot: RobotModel,
    leader: LeaderInfo,
    settings: RetargetSettings,
    pairing: Pairing,
    cameras: Mapping[str, CameraInfo],
) -> list[list[Slot]]:
    """Return each limb's sources, in the robot's order.

    Raises:
        ConfigError: If a camera's target is unknown.
    """
    sights = find_sights(robot, leader, settings, cameras)
    slots: list[list[Slot]] = []
    for name, limb in robot.limbs.items():
        slots.append([])
        pair = pairing.limbs.get(name)
        if pair is None:
            continue
        for source in pair.sources:
            rule = _make_rule(robot, leader, limb, settings, source, sights)
            slots[-1].append(_make_slot(robot, leader, limb, source, rule))
    return slots


def _make_slot(
    robot: RobotModel,
    leader: LeaderInfo,
    limb: Limb,
    source: LimbSource,
    rule: LimbRule[Any],
) -> Slot:
    row, k = leader.limbs.index(source.leader_limb), len(leader.limbs)
    gripper, line = _find_gripper(robot, limb)
    if source.rule == "look_at":
        gripper = -1  # the opening is meant for the limb that it watches
    return Slot(row, rule, gripper, (POSE + find_width(leader)) * k + row, line)


def _find_gripper(robot: RobotModel, limb: Limb) -> tuple[int, Vec]:
    if limb.gripper is None:
        return -1, np.zeros(4)
    g = limb.gripper
    line = np.array([g.open - g.closed, g.closed, 0.0, 1.0])
    return robot.joint_names.index(g.joint), line


def _make_rule(
    robot: RobotModel,
    leader: LeaderInfo,
    limb: Limb,
    settings: RetargetSettings,
    source: LimbSource,
    sights: Mapping[str, LookPlaces],
) -> LimbRule[Any]:
    if source.rule == "look_at":
        return _make_look_rule(settings.limbs[limb.name], sights[limb.name])
    if source.rule == "follow":
        return _make_follow_rule(robot, limb, settings)
    if source.rule == "axes":
        return _make_axes_rule(robot, leader, limb, settings, source)
    if source.rule == "joints":
        return _make_joints_rule(leader, source)
    return _make_pose_rule(robot, limb, settings, source, sights)


def _make_pose_rule(
    robot: RobotModel,
    limb: Limb,
    settings: RetargetSettings,
    source: LimbSource,
    sights: Mapping[str, LookPlaces],
) -> LimbRule[Any]:
    if source.rule == "absolute":
        return AbsoluteRule(settings.max_travel)
    s = read_limb_settings(settings, limb.name)
    R_map = pin.rpy.rpyToMatrix(*(s.rpy_xyz_extrinsic or (0.0, 0.0, 0.0)))
    scale = 1.0 if s.scale is None else s.scale
    is_world, bound = s.alignment == "world", settings.max_travel
    if s.alignment == "view":
        place = list(robot.limbs).index(limb.name)
        camera, sight = next((c, s) for c, s in sights.items() if s.of == place)
        at = list(robot.limbs).index(camera)
        return ViewRule(sight, at, R_map, scale, bound)
    return RelativeRule(R_map, scale, bound, is_world=is_world)


def _make_look_rule(s: LimbRuleSettings, sight: LookPlaces) -> LookAtRule:
    m = s.motion
    bounds = np.array(
        [
            m.max_speed,
            m.max_acceleration,
            m.max_jerk,
            m.max_turn,
            m.max_turn_acceleration,
            m.prediction,
            m.nearest,
            m.farthest,
        ]
    )
    return LookAtRule(sight, s.advice or "", bounds)


def _make_follow_rule(
    robot: RobotModel, limb: Limb, settings: RetargetSettings
) -> FollowRule:
    own = settings.limbs[limb.name]
    scale = settings.scale if own.scale is None else own.scale
    return FollowRule(
        own.object or "",  # which the plan has checked
        place_link(robot, limb.base_link),
        Chase(scale, settings.max_travel, own.motion),
    )


def _make_axes_rule(
    robot: RobotModel,
    leader: LeaderInfo,
    limb: Limb,
    settings: RetargetSettings,
    source: LimbSource,
) -> AxesRule:
    s = read_limb_settings(settings, limb.name)
    if s.alignment == "view":
        raise ConfigError(
            f"retarget.limbs.{limb.name}.alignment: expected world or body for the "
            f"axes of '{source.leader_limb}', got 'view'; poses alone go by the view"
        )
    speeds = find_part(leader, source.leader_limb)[1].axis_speeds
    scale = 1.0 if s.scale is None else s.scale
    kind = s.modes or BUILT_IN[0]
    joint, line = _find_gripper(robot, limb)
    return AxesRule(
        make_axes_modes(leader, limb, settings, source.leader_limb),
        Meaning(
            AxisSpeeds(scale * speeds.translation, speeds.turn, speeds.gripper),
            pin.rpy.rpyToMatrix(*(s.rpy_xyz_extrinsic or (0.0, 0.0, 0.0))),
            s.alignment == "world",
            s.input or "continuous",
        ),
        advisor="" if kind in BUILT_IN else kind,
        gripper=(joint, line) if joint >= 0 else None,
    )


def make_axes_modes(
    leader: LeaderInfo, limb: Limb, settings: RetargetSettings, leader_limb: str
) -> tuple[Vec, ...]:
    """Return the unadvised modes of axes for a limb."""
    kind = read_limb_settings(settings, limb.name).modes or BUILT_IN[0]
    gives_opening = find_part(leader, leader_limb)[1].has_gripper
    has_gripper = limb.gripper is not None and not gives_opening
    return make_modes(kind, len(leader.axes[leader_limb]), has_gripper=has_gripper)


def read_limb_settings(settings: RetargetSettings, limb: str) -> LimbRuleSettings:
    """Return a limb's settings, completed by the general ones."""
    own = settings.limbs.get(limb, LimbRuleSettings())
    return LimbRuleSettings(
        scale=settings.scale if own.scale is None else own.scale,
        alignment=own.alignment or settings.alignment,
        rpy_xyz_extrinsic=own.rpy_xyz_extrinsic or settings.rpy_xyz_extrinsic,
        modes=own.modes or settings.modes,
        input=own.input or settings.input,
    )


def _make_joints_rule(leader: LeaderInfo, source: LimbSource) -> JointsRule:
    k, width, n = len(leader.limbs), find_width(leader), len(source.joints)
    places = np.full(n, -1, dtype=np.int64)
    line = np.tile([1.0, 0.0, -np.inf, np.inf], (n, 1))
    for joint, given in enumerate(source.joints):
        if given is not None:
            row = leader.limbs.index(given.leader_limb)
            places[joint] = POSE * k + width * row + given.index
            line[joint, :2] = given.gain, given.offset
    return JointsRule(places, line)


def find_width(leader: LeaderInfo) -> int:
    """Return the largest number of joints of a leader limb."""
    return max((len(names) for names in leader.joint_names.values()), default=0)
