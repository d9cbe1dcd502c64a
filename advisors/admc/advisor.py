"""Advisor: columns of D for a session's view."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from paprle.advisors.admc.config import AdmcConfig
from paprle.advisors.admc.suggestions import NAMES, Goal, HandAbilities, suggest, to_eef
from paprle.advisors.admc.watches import Crossing, Hold, Hover
from paprle.contracts.axes import N_FREEDOMS, AxisSpeeds, compute_difference
from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.kit.named_objects import find_object
from paprle.contracts.plugins import (
    Advisor,
    CameraInfo,
    Clock,
    Frame,
    Record,
    SessionView,
    make_advice_dtype,
)
from paprle.contracts.types import LimbInfo, RobotInfo, Vec
from paprle.contracts.urdf.link_poses import LinkPoses

ADVICE = make_advice_dtype(
    ("D", "f8", (N_FREEDOMS, len(NAMES))),  # in the eef's axes, best first
    ("difference", "f8"),  # of the best from what is in use; NaN: nothing is
    ("is_shown", "?"),  # whether the operator is to see it
    ("n_crossings", "i8"),  # how often the difference went beyond the threshold
    ("goal", "f8", (3,)),  # where the hand is to go, in world, [m]
    ("is_held", "?"),  # the object is in the hand
)

_DOWN = np.array([0.0, 0.0, -1.0])
_HIDDEN = 0.5  # [s] chosen: five images of a slow camera
_R_EEF_GRASP = {
    "x": np.eye(3),
    "z": np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
}
"""Axes of the grasp in the eef's: x where the fingers point, y how they open."""


class Admc(Advisor):
    """Suggestions to grasp and place an object."""

    config: AdmcConfig

    def __init__(
        self,
        config: AdmcConfig,
        robot: RobotInfo,
        cameras: Mapping[str, CameraInfo],
        clock: Clock,
    ) -> None:
        """Raise ConfigError for a missing limb or gripper."""
        super().__init__(config, robot, cameras, clock)
        self._limb = _find_limb(robot, config.limb)
        speeds = AxisSpeeds(config.translation, config.turn, config.gripper)
        self._hand = HandAbilities(speeds, config.reach, config.approach)
        self._R_eef_grasp = _R_EEF_GRASP[config.forward]
        self._point = np.array(config.point)
        self._links: LinkPoses | None = None
        self._start()

    @property
    def advice(self) -> np.dtype[np.void]:
        """Layout: five columns, the first one's distance from the active."""
        return ADVICE

    def open(self) -> None:
        """Load the URDF.

        Raises:
            DeviceError: If it cannot be read.
        """
        self._start()
        try:
            self._links = LinkPoses(self.robot)
        except ValueError as err:
            raise DeviceError(f"advisors.admc: {err}") from err

    def advise(
        self,
        view: SessionView,
        frames: Mapping[str, Frame],  # noqa: ARG002 - it is told where objects are
    ) -> Record | None:
        """Return suggestions; invalid without object or target."""
        if self._links is None:
            return None
        record = self.make_advice(view.measured_ns, valid=False)
        if not np.isfinite(view.q).all():
            return record
        self._links.update(view.q)
        T_world_eef = self._links.place(self._limb.eef_link)
        p_grasp = T_world_eef.act(self._point)
        goal = self._find_goal(view, p_grasp)
        if goal is None:
            return record
        to_grasp = (T_world_eef.rotation @ self._R_eef_grasp).T
        is_near = self._hover.step(math.hypot(*(goal - p_grasp)[:2]))
        via = goal if is_near else _lift(goal, self.config.hover_height)
        D = suggest(
            Goal(
                to_grasp @ (goal - p_grasp),
                to_grasp @ (via - p_grasp),
                to_grasp @ (goal - p_grasp if is_near else _DOWN),
                self._hold.is_held,
            ),
            self._hand,
        )
        record["D"] = to_eef(D, self._R_eef_grasp, self._point, self._hand.speeds)
        record["goal"], record["is_held"] = goal, self._hold.is_held
        record["valid"] = True
        self._compare(record, view.mappings.get(self._limb.name))
        return record

    def close(self) -> None:
        """Release the robot; may be called twice."""
        self._links = None

    def _start(self) -> None:
        c = self.config
        self._hover, self._hold = Hover(c.min_hover), Hold()
        self._crossing = Crossing(c.threshold, c.hysteresis, c.debounce)

    def _find_goal(self, view: SessionView, p_grasp: Vec) -> Vec | None:
        c = self.config
        thing, place = find_object(view, c.object), find_object(view, c.target)
        if thing is None:
            return None
        distance = float(np.linalg.norm(thing.pose[:3] - p_grasp))
        was_held = self._hold.is_held
        if was_held and thing.age > _HIDDEN:
            distance = 0.0  # the hand that holds it hides it
        is_held = self._hold.step(*self._read_openings(view), distance)
        if is_held != was_held:
            self._hover.is_near = False
        if not is_held:
            return _lift(thing.pose, c.grasp_height)
        if place is None:
            return None
        return _lift(place.pose, c.place_height)

    def _read_openings(self, view: SessionView) -> tuple[float, float]:
        gripper = self._limb.gripper
        if gripper is None:
            return 1.0, 1.0
        joint = self.robot.joint_names.index(gripper.joint)
        told, there = float(view.q_cmd[joint]), float(view.q[joint])
        return gripper.measure(told), gripper.measure(there)

    def _compare(self, record: Record, active: Vec | None) -> None:
        difference = float("nan")
        if active is not None:
            difference = compute_difference(active[:, 0], record["D"][:, 0])
            self._crossing.step(difference, self.clock() * 1e-9)
        record["difference"] = difference
        is_continuous = self.config.communication == "continuous"
        record["is_shown"] = is_continuous or self._crossing.is_over
        # shown at all times, none of them is an event
        record["n_crossings"] = 0 if is_continuous else self._crossing.n_times


def _lift(pose: Vec, height: float) -> Vec:
    return np.array([pose[0], pose[1], pose[2] + height])


def _find_limb(robot: RobotInfo, name: str) -> LimbInfo:
    with_gripper = [limb for limb in robot.limbs if limb.gripper is not None]
    for limb in with_gripper:
        if name in {"", limb.name}:
            return limb
    there = ", ".join(limb.name for limb in with_gripper) or "none"
    raise ConfigError(
        f"advisors.admc.limb: expected a limb with a gripper ({there}), got '{name}'; "
        "choose another limb or follower"
    )
