"""Verb ``calibrate camera``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pinocchio as pin

from paprle.cli.interactive import end_softly
from paprle.cli.verb import SETTINGS, Verb, add_settings, say
from paprle.config import Resolved, resolve
from paprle.config.folders import SESSION
from paprle.config.laws import list_named
from paprle.contracts.errors import ConfigError, DeviceError, suggest
from paprle.contracts.images import EXACT, CameraInfo, RobotPose
from paprle.contracts.plugins import Camera
from paprle.hosts.factories import make_camera
from paprle.hosts.plan import make_plan
from paprle.hosts.precompile import compile_once
from paprle.ipc.loop import request_realtime
from paprle.robot.chain import Limb
from paprle_lab.acceptance.person import Person, Quit
from paprle_lab.acceptance.report import find_emulated
from paprle_lab.acceptance.rig import AcceptanceRig
from paprle_lab.calibration.board import FAMILIES, Board, BoardFinder
from paprle_lab.calibration.camera_run import CameraRun, CameraTask
from paprle_lab.calibration.eye import Eye
from paprle_lab.calibration.first_guess import Mounting
from paprle_lab.calibration.lens import Lens
from paprle_lab.calibration.mounting import CameraResult
from paprle_lab.calibration.postures import BoardScene
from paprle_lab.calibration.results import (
    describe_camera,
    draw_view,
    list_settings,
    store_camera,
)

_FIELDS = ("columns", "rows", "square", "marker", "family")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    usual = Board()
    parser.add_argument("--camera", default="", help="its name; the only one if absent")
    parser.add_argument("--limb", default="", help="the one that moves; likewise")
    parser.add_argument(
        "--mounting",
        choices=("wall", "hand"),
        help="beside the robot, which holds the board, or in its hand",
    )
    parser.add_argument(
        "--lens",
        default="",
        metavar="CAMERA",
        help="keep the lens of this name, of the same camera seen by another arm",
    )
    parser.add_argument("--board", choices=("charuco", "apriltag"), default="charuco")
    parser.add_argument("--columns", type=int, default=usual.columns)
    parser.add_argument("--rows", type=int, default=usual.rows)
    parser.add_argument("--square", type=float, default=usual.square, help="[m]")
    parser.add_argument("--marker", type=float, default=usual.marker, help="[m]")
    parser.add_argument("--family", choices=tuple(FAMILIES), default=usual.family)
    parser.add_argument("--print", type=Path, metavar="PNG", help="draw the board, end")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(),
        help="folder of the pictures (default: here)",
    )
    parser.add_argument(
        "--yes", action="store_true", help="ask nobody: for simulated robots alone"
    )
    parser.add_argument("--dry-run", action="store_true", help="write no settings")
    add_settings(parser)


def _run(args: argparse.Namespace) -> int:
    values: dict[str, Any] = {name: getattr(args, name) for name in _FIELDS}
    board = Board(kind=args.board, **values)
    if args.print is not None:
        cv2.imwrite(str(args.print), board.draw())
        say(f"written: {args.print}; print it at 101.6 dots an inch, and measure it")
        return 0
    resolved = resolve(args.settings)
    name, mounting = _choose_camera(resolved, args.camera), _choose_mounting(args)
    _check_person(args, resolved)
    plan = make_plan(resolved)
    limb = _choose_limb(plan.robot.limbs, args.limb)
    camera = make_camera(resolved, name)
    info = camera.info
    _check_pictures(name, info)
    lens = _find_lens(resolved, name, info)
    if args.lens:
        lens = _take_lens(resolved, args.lens, info)
    task = CameraTask(mounting=mounting, info=info, lens=lens)
    say(
        f"limb '{limb.name}' of {plan.robot.name} moves by itself at a tenth of its "
        f"speed, 0.7 rad about each joint's position at most, until camera '{name}' is "
        "known. The board or camera on the hand is in no collision model: keep people "
        "and things 0.3 m away from it, and a hand on the stop. Ctrl-C ends it at rest."
    )
    person = Person(is_absent=args.yes)
    compile_once()
    request_realtime()
    with end_softly():
        done = drive(resolved, camera, limb.name, task, board, person)
    if done is None:
        say("ended; nothing has moved, nothing was written")
        return 1
    result, run = done
    _write_picture(run, result, args.out / f"calibrated_{name}.png")
    for line in describe_camera(result):
        say(line)
    link = limb.base_link if mounting == "wall" else limb.eef_link
    settings = list_settings(result, link, with_lens=bool(args.lens))
    if not args.dry_run:
        path = store_camera(name, settings)
        resolve(args.settings)
        say(f"written: cameras.{name} in {path}")
    return 0


def drive(
    resolved: Resolved,
    camera: Camera,
    limb: str,
    task: CameraTask,
    board: Board,
    person: Person,
) -> tuple[CameraResult, CameraRun] | None:
    """Return the result of a run; None if the person declines.

    Raises:
        ConfigError: If the views are insufficient.
        DeviceError: If robot or camera fail.
    """
    with AcceptanceRig(resolved) as rig:
        for note in rig.notes:
            say(note)

        def look() -> RobotPose | None:
            if not rig.n_periods:
                return None
            try:
                motion = rig.list_motion(rig.n_periods - 1)
            except DeviceError:
                return None
            return RobotPose(round(1e9 * float(motion.t[0])), motion.q_meas[0], {})

        camera.watch(rig.robot.info, resolved.to_dict()["env"], look)
        with Eye(camera, BoardFinder(board)) as eye:
            run = CameraRun(rig, rig.robot.limbs[limb], eye, task, say)
            run.look()
            say("the board is seen")
            try:
                if not person.agrees("May the robot move?"):
                    return None
            except Quit:
                return None
            result = run.go()
    return result, run


def _write_picture(run: CameraRun, result: CameraResult, path: Path) -> None:
    scene = BoardScene(
        mounting=result.mounting,
        lens=result.lens,
        T_mount_cam=result.T_mount_cam,
        T_mount_board=result.T_mount_board,
        p_board=run.taken[0].view.p_board,
        size=(0, 0),
    )
    counts = [len(run.taken[k].view.pixels) for k in result.views]
    parts = np.split(result.residuals, np.cumsum(counts)[:-1])
    worst = max(range(len(parts)), key=lambda k: float(np.mean(parts[k])))
    one = run.taken[result.views[worst]]
    if one.sight.found is None:
        return
    T_base_eef = one.view.T_base_eef * pin.exp6(result.deviations[worst])
    T_cam_board = scene.place_board(T_base_eef)
    image = draw_view(one.sight.picture, one.sight.found, T_cam_board, result.lens)
    path.parent.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(path), image)
    say(f"written: {path}, the view that fits least")


def _choose_camera(resolved: Resolved, name: str) -> str:
    known = list(list_named(resolved.cameras))
    if name in known:
        return name
    if not name and len(known) == 1:
        return known[0]
    raise ConfigError(
        f"calibrate camera: expected --camera with a camera of the settings, got "
        f"'{name}'; {suggest(name, known, 'cameras')}; name one: cameras.NAME.type=…"
    )


def _choose_limb(limbs: Mapping[str, Limb], name: str) -> Limb:
    if name in limbs:
        return limbs[name]
    if not name and len(limbs) == 1:
        return next(iter(limbs.values()))
    raise ConfigError(
        f"calibrate camera: expected --limb with a limb of the robot, got '{name}'; "
        f"{suggest(name, limbs, 'limbs')}"
    )


def _choose_mounting(args: argparse.Namespace) -> Mounting:
    if args.mounting is None:
        raise ConfigError(
            "calibrate camera: expected --mounting, got none; hand: the camera is on "
            "the arm and the board stands, wall: the camera stands and the arm holds "
            "the board"
        )
    mounting: Mounting = args.mounting
    return mounting


def _check_person(args: argparse.Namespace, resolved: Resolved) -> None:
    if resolved.session.clock != "wall" or resolved.is_gate_afar:
        raise ConfigError(
            "calibrate camera: expected session.clock=wall and a robot on this host, "
            "got another clock or link.peer; run it beside the robot"
        )
    if args.yes and "robot" not in find_emulated(resolved):
        raise ConfigError(
            "calibrate camera --yes: expected an emulated or simulated robot, got "
            f"env={resolved.env_name}; a real one moves only with a person beside it"
        )
    if not args.yes and not sys.stdin.isatty():
        raise ConfigError(
            "calibrate camera: expected a terminal, at which a person agrees, got "
            "none; for a simulated robot give --yes"
        )


def _check_pictures(name: str, info: CameraInfo) -> None:
    if info.encoding in EXACT:
        raise ConfigError(
            f"calibrate camera: expected a camera of pictures, got '{name}' of "
            f"{info.encoding}"
        )


def _find_lens(resolved: Resolved, name: str, info: CameraInfo) -> Lens | None:
    site = resolved.sources.get(f"cameras.{name}.focal", "").endswith(SESSION)
    if site or not np.isfinite(info.K).all():
        return None
    return _read_lens(info)


def _take_lens(resolved: Resolved, name: str, info: CameraInfo) -> Lens:
    known = list(list_named(resolved.cameras))
    if name not in known:
        raise ConfigError(
            "calibrate camera: expected --lens with a camera of the settings, got "
            f"'{name}'; {suggest(name, known, 'cameras')}"
        )
    other = make_camera(resolved, name).info
    if not np.isfinite(other.K).all():
        raise ConfigError(
            f"calibrate camera: expected --lens with a calibrated camera, got '{name}' "
            "without focal; calibrate it first"
        )
    if (other.width, other.height) != (info.width, info.height):
        raise ConfigError(
            f"calibrate camera: expected --lens with pictures of {info.width} × "
            f"{info.height} px, got {other.width} × {other.height} of '{name}'; give "
            "both names the same size"
        )
    return _read_lens(other)


def _read_lens(info: CameraInfo) -> Lens:
    K = info.K
    focal, centre = (float(K[0, 0]), float(K[1, 1])), (float(K[0, 2]), float(K[1, 2]))
    return Lens(focal, centre, np.array(info.distortion))


CALIBRATE_CAMERA = Verb(
    name="calibrate-camera",
    summary="Find a camera's place on or beside a robot, and its lens, by a board.",
    help=f"""\
Begin with the arm where the camera sees the whole board in the middle of its picture;
``--print`` draws the board. The robot is asked for, then drives itself, through its
gate and at a tenth of its speed, to 20 … 100 postures about that one, takes pictures
at rest in each, and comes back. Views that disagree are dropped. Focal length, centre
and distortion are found, too, unless ``focal`` is set on the command line or in a
robot's YAML, or ``--lens`` names a camera that has them. The result, with its spread,
goes to cameras.NAME in configs/site/session.yaml, from where sessions, recordings and
data sets have it; a picture shows the view that fits least, errors 20 times as long.

{SETTINGS}

exit codes: 0 measured and written; 1 the robot or the camera failed, or the person
left; 2 refused, or the views do not determine the camera

examples:
  paprle calibrate camera --print board.png
  paprle calibrate camera --mounting hand leader=autopilot follower=xarm7 env=xarm \\
      cameras.wrist.type=opencv cameras.wrist.device=/dev/video0
  paprle calibrate camera --mounting wall --board apriltag --columns 4 --rows 3 \\
      --square 0.05 --marker 0.04 --family apriltag_36h11 --camera front \\
      leader=autopilot follower=piper env=can""",
    add_arguments=_add_arguments,
    run=_run,
)
