"""Camera pose advice for the rule ``look_at``."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pinocchio as pin

from paprle.advisors.viewpoint.arms import Arms, Links
from paprle.advisors.viewpoint.config import ViewpointConfig
from paprle.advisors.viewpoint.goal import (
    Goal,
    GoalScene,
    GoalSolver,
    Shell,
    Wish,
    Wishes,
)
from paprle.advisors.viewpoint.joints import Carry, JointSolver, JointWishes
from paprle.contracts.errors import DeviceError
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

ADVICE = make_advice_dtype(
    ("p_world_cam", "f8", (3,)),  # where the camera's arm should have it by now, [m]
    ("p_world_goal", "f8", (3,)),  # where it should be in the end, [m]
    ("p_world_target", "f8", (3,)),  # what it should look at, [m]
    ("distance", "f8"),  # that was aimed at, [m]
    ("clearance", "f8"),  # of the two arms, [m]
    ("seconds", "f8"),  # that it took
)

_LONGEST = 0.1  # [s] chosen: whoever was asked later begins from the command
_ASTRAY = 0.5  # [rad] chosen: a plan that far from the command is given up
# chosen: an arm that is stretched cannot turn its camera. A Sawyer's wrist bends 0.22 m
# before the camera and gets 1.12 m far: up to 0.67 of its 1.33 m it can look anywhere.
# Six joints have no other posture at a place, and a smaller space only tilts the image.
_REACH, _REACH_OF_SIX = 0.7, 0.9
_N_POSE = 6  # numbers of a place and a turn
_OBJECT = 2  # chosen: so often it counts: 3, as a link of the paper's
_FOLDED = 0.3  # chosen: of the reach; nearer to its shoulder an arm is folded up
_BETTER = 0.2  # chosen: another place has to be this much better to go there
_LOWEST = 0.2  # [m] chosen: above the table; along it one sees little
_DISTANCE_RATE = 0.3  # [m/s] chosen: a zoom that is not noticed
_TURNS = tuple(math.radians(a) for a in (30, -30, 60, -60, 100, -100, 180))
_OCCLUSION = 1.5  # chosen: an arm has thrice as many bodies as the paper counts links
_CLIMB = 2.0  # chosen: with the paper's 0.2 and power 4 nothing lifts a low camera
_LEAST = 1e-6  # [m] chosen: the camera is not in its target

_AUTOCAM = (
    Wishes(
        Wish(0.5, n=0, r=1e-4, c=0.12), Wish(0.0), Wish(3.0, c=0.5, r=35.0, power=2)
    ),
    JointWishes(
        look=Wish(10.0, r=10.0, power=2),
        goal=Wish(15.0, r=10.0, power=2),
        upright=Wish(10.0, r=10.0, power=2),
        joints=Wish(4.0, r=10.0, power=2),
        camera=Wish(0.0),
    ),
)
"""Weights of the first author's code of 2018: no height, no prediction, no bound of the
camera's own acceleration."""


class Viewpoint(Advisor):
    """Solves for a goal, and moves an arm's copy to it."""

    config: ViewpointConfig

    def __init__(
        self,
        config: ViewpointConfig,
        robot: RobotInfo,
        cameras: Mapping[str, CameraInfo],
        clock: Clock,
    ) -> None:
        super().__init__(config, robot, cameras, clock)
        self._carrier: JointSolver | None = None
        self._plan: Vec | None = None
        self._stamp_ns = 0
        self._goal = Goal(np.zeros(3), math.inf)
        self._distance = config.nearest
        self._turn = 0

    @property
    def advice(self) -> np.dtype[np.void]:
        """Layout: the camera's goal and target."""
        return ADVICE

    def open(self) -> None:
        """Load the robot and compile the solvers.

        Raises:
            DeviceError: If a limb or the camera is missing.
        """
        config = self.config
        limb, of = (
            self._find_limb("limb", config.limb),
            self._find_limb("of", config.of),
        )
        if limb.name == of.name:
            raise DeviceError(
                f"advisors.viewpoint.of: expected another limb than '{limb.name}', got "
                "the same; a camera does not watch itself"
            )
        self._arms = Arms(self.robot)
        self._frame = self._arms.find_frame(limb.eef_link)
        self._hand = self._arms.find_frame(of.eef_link)
        self._hand_columns = self._arms.list_columns(of.joint_names)
        self._hand_places = [self.robot.joint_names.index(j) for j in of.joint_names]
        self._places = [self.robot.joint_names.index(j) for j in limb.joint_names]
        self._obstacles = Links(self._arms, of, has_last=False)
        is_ours = config.variant == "ours"
        self._lowest = config.floor + _LOWEST if is_ours else -math.inf
        T_eef_cam = self._find_mount()
        centre, reach = self._arms.find_reach(limb, self._frame)
        x, y, z = centre.tolist()
        has_spare = len(limb.joint_names) > _N_POSE
        most = (_REACH if has_spare else _REACH_OF_SIX) * reach
        self._shell = Shell((x, y, z), _FOLDED * reach, most)
        wishes, joint_wishes = self._choose_wishes()
        self._goals = GoalSolver(wishes)
        camera = self._frame, T_eef_cam
        self._carrier = JointSolver(
            self._arms, self.robot, (limb, of), camera, joint_wishes
        )
        self._plan = None
        self._warm_up()

    def _warm_up(self) -> None:
        home, config = self.robot.home, self.config
        self._arms.place(home)
        if self._carrier is not None:
            p = self._carrier.place_camera().translation
            scene = GoalScene(p + 1.0, config.nearest, self._obstacles.find())
            self._goals.solve(scene, [p])
            self._carrier.step(home, self._ask(p, p + 1.0, 0.0))

    def advise(
        self,
        view: SessionView,
        frames: Mapping[str, Frame],  # noqa: ARG002 - it looks at joints
    ) -> Record | None:
        """Return the camera's current goal."""
        q, carrier = np.array(view.q_cmd), self._carrier
        if carrier is None or not np.isfinite(q).all():
            return None
        begin_ns = self.clock()
        dt = self._begin(view, q)
        hand, v = self._find_hand(q, np.array(view.dq_cmd))
        ahead = 0.0 if self.config.variant == "autocam" else self.config.prediction
        target = hand + ahead * v
        self._zoom(float(np.linalg.norm(v)), dt)
        self._aim(target, view)
        asked = q.copy()
        asked[self._places] = q[self._places] if self._plan is None else self._plan
        after = carrier.step(asked, self._ask(self._goal.g, target, dt))
        self._plan = after[self._places]
        record = self.make_advice(view.written_ns)
        record["p_world_cam"] = carrier.place_camera().translation
        record["p_world_goal"], record["p_world_target"] = self._goal.g, target
        record["distance"], record["clearance"] = self._distance, carrier.clearance
        record["seconds"] = (self.clock() - begin_ns) * 1e-9
        return record

    def _ask(self, goal: Vec, target: Vec, dt: float) -> Carry:
        return Carry(goal, target, self.config.clearance, self.config.floor, dt)

    def close(self) -> None:
        """Release the robot; may be called twice."""
        self._carrier = self._plan = None

    def _begin(self, view: SessionView, q: Vec) -> float:
        dt = (view.written_ns - self._stamp_ns) * 1e-9
        self._stamp_ns = view.written_ns
        own = q[self._places]
        is_astray = (
            self._plan is None
            or not view.is_engaged
            or not 0.0 <= dt <= _LONGEST
            or float(np.abs(self._plan - own).max()) > _ASTRAY
        )
        self._arms.place(q)
        if is_astray:
            self._plan, dt = own, 0.0
            carrier = self._carrier
            p = np.zeros(3) if carrier is None else carrier.place_camera().translation
            self._goal = Goal(p.copy(), math.inf)
        return dt

    def _find_hand(self, q: Vec, dq: Vec) -> tuple[Vec, Vec]:
        self._arms.place(q)
        J = pin.getFrameJacobian(
            self._arms.model, self._arms.data, self._hand, pin.LOCAL_WORLD_ALIGNED
        )[:3, self._hand_columns]
        v = J @ np.where(np.isfinite(dq), dq, 0.0)[self._hand_places]
        return self._arms.data.oMf[self._hand].translation.copy(), v

    def _zoom(self, speed: float, dt: float) -> None:
        config = self.config
        share = min(speed / config.fast, 1.0)
        wanted = config.nearest + share * (config.farthest - config.nearest)
        most = _DISTANCE_RATE * dt
        self._distance += min(max(wanted - self._distance, -most), most)

    def _aim(self, target: Vec, view: SessionView) -> None:
        obstacles = self._find_obstacles(view)
        scene = GoalScene(target, self._distance, obstacles, self._shell, self._lowest)
        self._goal = self._goals.solve(scene, [self._goal.g])
        away = self._goal.g - target
        if float(np.linalg.norm(away)) < _LEAST:
            return
        # one other start a time: all of them in a tenth of a second
        self._turn = (self._turn + 1) % len(_TURNS)
        R = pin.rpy.rpyToMatrix(0.0, 0.0, _TURNS[self._turn])
        other = self._goals.solve(scene, [target + R @ away])
        if other.cost < self._goal.cost - _BETTER:
            self._goal = other

    def _find_obstacles(self, view: SessionView) -> Vec:
        rows = [self._obstacles.find()]
        for name, radius in self.config.occluders.items():
            thing = find_object(view, name)
            if thing is not None:
                p = thing.pose[:3]
                rows.extend([np.array([[*p, *p, radius]])] * _OBJECT)
        return np.concatenate(rows)

    def _choose_wishes(self) -> tuple[Wishes, JointWishes]:
        if self.config.variant == "autocam":
            return _AUTOCAM
        height = Wishes().height._replace(s=self.config.height)
        if self.config.variant == "ours":
            occlusion = Wishes().occlusion._replace(weight=_OCCLUSION)
            height = height._replace(r=_CLIMB, power=2)
            return Wishes(occlusion, height), JointWishes()
        narrow = Wishes().occlusion._replace(c=0.04)
        plain = JointWishes(look=Wish(5.0), goal=Wish(4.0))
        small = Wish(4.0, c=0.01)
        return Wishes(narrow, height), plain._replace(joints=small, camera=small)

    def _find_limb(self, key: str, name: str) -> LimbInfo:
        for limb in self.robot.limbs:
            if limb.name == name:
                return limb
        known = ", ".join(limb.name for limb in self.robot.limbs)
        raise DeviceError(
            f"advisors.viewpoint.{key}: expected a limb of '{self.robot.name}', got "
            f"'{name}'; there are {known}"
        )

    def _find_mount(self) -> pin.SE3:
        if self.config.camera is None:
            return pin.SE3.Identity()
        info = self.cameras.get(self.config.camera)
        if info is None or not self._arms.has_link(info.link):
            known = ", ".join(self.cameras) or "none"
            raise DeviceError(
                "advisors.viewpoint.camera: expected a camera on the robot, got "
                f"'{self.config.camera}'; there are {known}"
            )
        self._arms.place(self.robot.home)
        frames = self._arms.data.oMf
        at = self._arms.find_frame(info.link)
        return frames[self._frame].inverse() * frames[at] * info.T_link_cam
