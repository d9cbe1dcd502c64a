"""Camera calibration by automatic robot motion."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.images import CameraInfo
from paprle.contracts.types import Vec
from paprle.robot.chain import Limb
from paprle_lab.acceptance.rig import AcceptanceRig
from paprle_lab.calibration.eye import Eye, SearchedImage
from paprle_lab.calibration.first_guess import (
    Guess,
    Mounting,
    check_fronts,
    find_mounting,
    guess_lens,
    place_board,
)
from paprle_lab.calibration.lens import BoardView, Lens, make_offsets, make_spread
from paprle_lab.calibration.mounting import CameraResult, calibrate_camera
from paprle_lab.calibration.postures import BoardScene, Planner

_SETTLE = 0.3  # [s] chosen: an arm swings out, and a rolling shutter sees a still board
_STAND = 0.05  # [s] chosen: how often the newest image is looked at
_PATIENCE = 2.0  # [s] chosen: a camera of one image a second has given one by then
_BEGIN, _TRIES = 16, 3  # chosen: views before a fit, so that bad ones may be dropped
_BATCH, _MOST = 10, 100  # chosen: views before the result is looked at; six minutes
_TAKEN_UP = np.deg2rad(0.2)  # chosen: twice a usual play; less may leave a joint in it


T = TypeVar("T")


class Taken(NamedTuple):
    """A view with its image."""

    view: BoardView
    sight: SearchedImage


@dataclass(frozen=True, kw_only=True)
class CameraTask:
    """A camera to be calibrated; ``lens`` may be unknown."""

    mounting: Mounting
    info: CameraInfo
    lens: Lens | None


class CameraRun:
    """Motion of a limb from view to view; rig and eye are open."""

    def __init__(
        self,
        rig: AcceptanceRig,
        limb: Limb,
        eye: Eye,
        task: CameraTask,
        say: Callable[[str], None],
    ) -> None:
        self._rig, self._limb, self._eye, self._task = rig, limb, eye, task
        self._say = say
        self._sides: Vec = np.zeros(1)  # of the last motions, unknown
        self.taken: list[Taken] = []

    def look(self) -> None:
        """Take the first view, from the operator's posture.

        Raises:
            ConfigError: If the board is not seen.
        """
        self._rig.look(0.1)
        if not self._take():
            raise ConfigError(
                "calibrate camera: expected the board to be seen from where the arm "
                "stands, got none; place the arm so that the whole board is in the "
                "middle of the picture, with light on it, and check --board, "
                "--columns, --rows and --family"
            )

    def go(self) -> CameraResult:
        """Return the result of views taken until it is sure.

        The limb then returns.

        Raises:
            ConfigError: If the views are insufficient.
            DeviceError: If the gate stops the robot, or the camera fails.
        """
        planner = Planner(self._rig.robot, self._limb, self._rig.q)
        self._visit(planner, planner.list_small())
        for _ in range(_TRIES):
            scene = self._beside(self._guess_scene)
            self._visit(planner, self._choose(planner, scene))
            if len(self.taken) >= _BEGIN:
                break
        result = self._beside(self._solve)
        while not result.is_sure and len(self.taken) < _MOST:
            n, scene = len(self.taken), self._make_scene(result, result.lens)
            self._visit(planner, self._choose(planner, scene))
            if len(self.taken) == n:
                break
            result = self._beside(self._solve)
            self._say(
                f"  {len(result.views)} views: {1e3 * result.sigma_place:.2f} mm, "
                f"{57.29578 * result.sigma_turn:.3f}°, {result.rms:.2f} px"
            )
        self._move(planner, planner.q_start)
        return result

    def _choose(self, planner: Planner, scene: BoardScene) -> list[Vec]:
        seen, n = self._describe(scene), min(_BATCH, _MOST - len(self.taken))
        return self._beside(lambda: planner.choose(scene, n, seen))

    def _beside(self, compute: Callable[[], T]) -> T:
        pool = ThreadPoolExecutor(1, "calibration")
        try:
            future = pool.submit(compute)
            while not future.done():
                self._rig.stand(_STAND)
            return future.result()
        finally:  # at Ctrl-C the robot is braked at once, whatever is being computed
            pool.shutdown(wait=False)

    def _solve(self) -> CameraResult:
        views, info = [one.view for one in self.taken], self._task.info
        size = info.width, info.height
        return calibrate_camera(views, self._task.mounting, size, self._task.lens)

    def _guess_scene(self) -> BoardScene:
        info, views = self._task.info, [one.view for one in self.taken]
        lens = self._task.lens or guess_lens(info.width, info.height)
        placed = [(place_board(view, lens), view.T_base_eef) for view in views]
        check_fronts([T_cam_board for T_cam_board, _ in placed])
        both = [one for one in placed if one[0] is not None]
        boards, Ts = zip(*both, strict=True)
        return self._make_scene(find_mounting(boards, Ts, self._task.mounting), lens)

    def _make_scene(self, places: Guess | CameraResult, lens: Lens) -> BoardScene:
        info = self._task.info
        return BoardScene(
            mounting=self._task.mounting,
            lens=lens,
            T_mount_cam=places.T_mount_cam,
            T_mount_board=places.T_mount_board,
            p_board=max((one.view.p_board for one in self.taken), key=len),
            size=(info.width, info.height),
        )

    def _describe(self, scene: BoardScene) -> list[Vec]:
        Ts = [one.view.T_base_eef for one in self.taken]
        return [scene.describe(scene.place_board(one)) for one in Ts]

    def _visit(self, planner: Planner, postures: Iterable[Vec]) -> None:
        for q in postures:
            if not self._move(planner, q):
                continue
            is_seen = self._take()
            self._say(
                f"  {len(self.taken)} views{'' if is_seen else ', board not seen'}"
            )

    def _move(self, planner: Planner, q: Vec) -> bool:
        rig = self._rig
        for goal in (q,) if planner.is_way_free(rig.q, q) else (planner.q_start, q):
            if not planner.is_way_free(rig.q, goal):
                return False
            q_before = rig.q
            is_there = rig.go(goal)
            self._note_sides(rig.q - q_before)
            if not is_there:
                if rig.trouble:
                    raise DeviceError(f"calibrate camera: the gate held: {rig.trouble}")
                self._say(
                    f"  a posture was left out: {rig.held or 'not reached in time'}"
                )
                return False
        rig.stand(_SETTLE)
        return True

    def _note_sides(self, way: Vec) -> None:
        way = self._limb.take(way)
        self._sides = np.where(np.abs(way) > _TAKEN_UP, np.sign(way), self._sides)

    def _take(self) -> bool:
        rig = self._rig
        moment_ns = round(1e9 * float(rig.list_motion(rig.n_periods - 1).t[0]))
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            if rig.speed.any() or not self.taken:
                rig.look(_STAND)
            else:
                rig.stand(_STAND)
            sight = self._eye.find_after(moment_ns)
            if sight is not None:
                break
        else:
            raise DeviceError(
                f"calibrate camera: expected an image within {_PATIENCE:g} [s], got "
                "none; try paprle find-cameras"
            )
        if sight.found is None:
            return False
        q = self._limb.take(rig.q)
        J = self._limb.jacobian(q)
        errors = make_spread(J), make_offsets(J, self._sides)
        view = BoardView(*sight.found, self._limb.fk(q), *errors)
        self.taken.append(Taken(view, sight))
        return True
