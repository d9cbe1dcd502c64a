"""Session of one user and one block."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from benchmarks.shared_control.users import Adaptive, Classic, Scene, User, point_of
from paprle.config import resolve
from paprle.contracts.errors import ConfigError
from paprle.contracts.types import SessionState, Vec
from paprle.contracts.urdf.link_poses import LinkPoses
from paprle.followers.mujoco.follower import MujocoFollower
from paprle.hardware.gamepad.virtual import VirtualPad
from paprle.hardware.mujoco.mechanism import BLOCK, TARGET
from paprle.hosts.virtual import VirtualSession
from paprle.ipc.records import Record

MODES = ("classic", "continuous", "threshold", "learned")
LONGEST = 120.0  # [s] chosen: whoever takes two minutes for a block has failed
_POINT = (-0.02, 0.0, 0.0)  # [m] measured: urdf/papras_7dof, fingertips on a block
_HOVER = 0.1  # [m] chosen: the whole hand is above a block
_REGRIP = 1.0  # [s] chosen: whom the gate holds lets go, and grips again
_PAD = "One axis"
_STICK, _BUTTON = "lefty", "a"


class Trial(NamedTuple):
    """Outcome of one block.

    Attributes:
        time: From the first possible action, [s].
        switches: Of the mode.
        path: Of the middle between fingertips, [m].
    """

    is_placed: bool
    time: float
    switches: int
    path: float


def list_words(mode: str, seed: int, *, is_coarse: bool = True) -> tuple[str, ...]:
    """Return a trial's command line; ``is_coarse`` slows loops."""
    words = (
        "leader=gamepad",
        "follower=papras_7dof",
        "env=mujoco",
        "session.clock=virtual",
        "session.status=false",
        "session.episodes=1",
        f"env.scenario.seed={seed}",
        "leader.speed=0.1",
        "leader.turn_speed=0.5",
        "leader.curve=1",
        "leader.longest=60",
    )
    if is_coarse:
        words += ("session.rate=25", "env.rate=50")
    if mode == "classic":
        return (*words, "retarget.modes=classic")
    words += ("retarget.modes=helper", "advisors.helper.rate=50")
    if mode == "learned":
        return (*words, "advisors.helper.type=learned")
    return (
        *words,
        "advisors.helper.type=admc",
        f"advisors.helper.communication={mode}",
        f"advisors.helper.point=[{', '.join(map(str, _POINT))}]",
        "advisors.helper.forward=x",
        f"advisors.helper.hover_height={_HOVER}",
    )


def make_user(mode: str, seed: int) -> User:
    """Return a user of a mode's device."""
    if mode == "classic":
        return Classic(seed, _HOVER)
    return Adaptive(seed, waits_for_cue=mode == "threshold")


class TrialSession(VirtualSession):
    """Session in which a user acts until the block is placed."""

    def __init__(self, mode: str, seed: int, *, is_coarse: bool = True) -> None:
        self._pad = VirtualPad(_PAD)
        resolved = resolve(list_words(mode, seed, is_coarse=is_coarse))
        pads = {"pad": _make_pad()}
        resolved = _with_pads(resolved, pads)
        super().__init__(resolved)
        self.user = make_user(mode, seed)
        self._links = LinkPoses(self.plan.robot.info)
        self._limb = self.plan.robot.info.limbs[0]
        if self._limb.gripper is None:
            raise ConfigError("follower: expected one with a gripper, got none")
        self._gripper = self._limb.gripper
        self._joint = self.plan.layout.joint_names.index(self._gripper.joint)
        self._begin: float | None = None
        self._last: Vec | None = None
        self._path = 0.0
        self.result: Trial | None = None

    def play(self) -> Trial:
        """Run to the end."""
        try:
            self.run()
        finally:
            self._pad.unplug()
        return self.result or Trial(False, math.nan, 0, self._path)

    def _tick(self, status: Record) -> tuple[Record, bool]:
        t = self.clock.now_ns * 1e-9
        if self.core.state is SessionState.ENGAGED:
            scene = self._see(status, t)
            self._judge(t)
            self.user.look(scene)
            self._pad.move(_STICK, -self.user.axis)
            self._pad.move(_BUTTON, float(self.user.button))
        elif self.core.state is SessionState.WAITING:
            self._pad.move("leftshoulder", 1.0)
        elif self._begin is not None:
            self._judge(t)
            self._pad.move(_STICK, 0.0)
            self._pad.move("leftshoulder", float(t % _REGRIP > 0.5 * _REGRIP))
        setpoint, is_over = super()._tick(status)
        return setpoint, is_over or self.result is not None

    def _see(self, status: Record, t: float) -> Scene:
        self._links.update(status["q_meas"])
        T = self._links.place(self._limb.eef_link)
        p, forward = point_of(T, np.array(_POINT), 0)
        self._path += (
            0.0 if self._last is None else float(np.linalg.norm(p - self._last))
        )
        self._last = p
        names = self.plan.layout.objects
        poses = status["objects"]
        difference, is_shown = math.nan, False
        for one in self._advised.read().values():
            if one.record["valid"]:
                difference = float(one.record["difference"])
                is_told = "is_shown" in (one.record.dtype.names or ())
                is_shown = bool(one.record["is_shown"]) if is_told else True
        opening = self._gripper.measure(float(status["q_meas"][self._joint]))
        return Scene(
            t,
            p,
            forward,
            np.array(poses[names.index(BLOCK), :3]),
            np.array(poses[names.index(TARGET), :3]),
            opening,
            self._world.is_held,
            difference,
            is_shown,
        )

    @property
    def _world(self) -> Any:
        follower = self.follower
        return follower.scenario if isinstance(follower, MujocoFollower) else None

    def _judge(self, t: float) -> None:
        self._begin = t if self._begin is None else self._begin
        is_placed, time = self._world.n_placed > 0, t - self._begin
        if is_placed or self._world.n_lost or time > LONGEST:
            n = self.core.modes.n_times
            self.result = Trial(is_placed, time, n, self._path)


def _make_pad() -> dict[str, Any]:
    return {
        "device": _PAD,
        "axes": {"push": f"-{_STICK}"},
        "buttons": {"leftshoulder": "deadman", _BUTTON: "mode"},
    }


def _with_pads(resolved: Any, pads: dict[str, Any]) -> Any:
    whole = resolved.to_dict()
    whole["leader"]["pads"] = pads
    return type(resolved).from_dict(whole)


__all__ = ["LONGEST", "MODES", "Trial", "TrialSession"]
