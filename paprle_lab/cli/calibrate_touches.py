"""Verbs ``calibrate tool`` and ``calibrate bases``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from paprle.cli.verb import Verb, say
from paprle.config import known_names, resolve
from paprle.config.laws import list_named
from paprle.contracts.errors import ConfigError, suggest
from paprle.contracts.settings.camera import CameraSettings
from paprle.contracts.types import RobotInfo, Vec
from paprle.hosts.plan import make_robot
from paprle.recording.robot import read_recorded_urdf
from paprle_lab.calibration.recorded_touches import Touch, TouchedRobot, read_touches
from paprle_lab.calibration.site_robot import (
    add_tool,
    find_limb,
    name_tool,
    place_base,
    store_robot,
)
from paprle_lab.calibration.touches import (
    BaseResult,
    ToolResult,
    find_base_by_camera,
    find_base_by_points,
    find_tool,
)

_WIDE = 1e-3, np.deg2rad(0.1)  # [m], [rad] chosen: two sigmas are 2 mm and 0.2°


def _add_tool_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "recordings",
        nargs="+",
        type=Path,
        metavar="MCAP",
        help="episodes with notes 'touch …'",
    )
    parser.add_argument("--limb", default="", help="the only one if absent")
    _add_dry_run(parser)


def _add_bases_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words",
        nargs="+",
        metavar="MCAP",
        help="episodes with notes 'touch …'; key=value with --cameras",
    )
    parser.add_argument(
        "--cameras",
        nargs=2,
        metavar=("FIRST", "SECOND"),
        help="one camera as each of the arms calibrated it, instead of touches",
    )
    parser.add_argument(
        "--second",
        nargs="+",
        type=Path,
        default=[],
        metavar="MCAP",
        help="recordings of the second arm, where it is another robot",
    )
    parser.add_argument(
        "--limbs",
        nargs=2,
        default=["", ""],
        metavar=("FIRST", "SECOND"),
        help="limbs of one robot; the first two if absent",
    )
    _add_dry_run(parser)


def _add_dry_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="write no settings")


def _run_tool(args: argparse.Namespace) -> int:
    robot = read_touches(args.recordings)
    touches = robot.list_limb(args.limb)
    result = find_tool([one.T_base_eef for one in touches])
    for line in _describe_tool(result, touches):
        say(line)
    limb = find_limb(robot.info, touches[0].limb)
    T_eef_tool = pin.SE3(np.eye(3), result.p_eef_tool)
    urdf = add_tool(robot, limb, T_eef_tool)
    return _store(args, robot, urdf, {limb.name: name_tool(limb)})


def _run_bases(args: argparse.Namespace) -> int:
    if args.cameras is not None:
        return _run_cameras(args)
    first = read_touches(map(Path, args.words))
    if args.second:
        second = read_touches(args.second)
        pairs = _pair(first.list_limb(args.limbs[0]), second.list_limb(args.limbs[1]))
        for line in _describe_bases(_place(pairs), pairs):
            say(line)
        say("nothing is written: no follower has both robots")
        return 0
    names = _choose_limbs(first.info, args.limbs)
    pairs = _pair(first.list_limb(names[0]), first.list_limb(names[1]))
    result = _place(pairs)
    for line in _describe_bases(result, pairs):
        say(line)
    return _store_base(args, first, names, result.T_first_second)


def _run_cameras(args: argparse.Namespace) -> int:
    resolved = resolve(args.words)
    info = make_robot(resolved).info
    robot = TouchedRobot(
        follower=resolved.follower_name,
        info=info,
        urdf=info.urdf_path.read_text(encoding="utf-8"),
        touches=(),
    )
    cameras = list_named(resolved.cameras)
    found = [_find_camera(cameras, name, info) for name in args.cameras]
    _check_lenses(*(cameras[name] for name in args.cameras))
    (first, T_first_cam), (second, T_second_cam) = found
    T = find_base_by_camera(T_first_cam, T_second_cam)
    say(_describe_pose(T))
    return _store_base(args, robot, [first, second], T)


def _find_camera(
    cameras: Mapping[str, Any], name: str, info: RobotInfo
) -> tuple[str, pin.SE3]:
    if name not in cameras:
        raise ConfigError(
            f"calibrate bases: expected cameras of the settings, got '{name}'; "
            f"{suggest(name, list(cameras), 'cameras')}"
        )
    mounted = cameras[name]
    for limb in info.limbs:
        if limb.base_link == mounted.link:
            return limb.name, mounted.T_link_camera.to_se3()
    bases = ", ".join(limb.base_link for limb in info.limbs)
    raise ConfigError(
        f"calibrate bases: expected camera '{name}' in an arm's base, of {bases}, got "
        f"link '{mounted.link}'; run paprle calibrate camera --mounting wall with "
        "--limb for each arm, under a name for each"
    )


def _check_lenses(first: CameraSettings, second: CameraSettings) -> None:
    # an error of the lens turns the camera for both arms alike, and cancels
    lenses = [(one.focal, one.centre, one.distortion) for one in (first, second)]
    if lenses[0] != lenses[1]:
        raise ConfigError(
            "calibrate bases: expected one lens of both cameras, which are one, got "
            f"focal {first.focal} and {second.focal} [px]; calibrate the second again "
            "with --lens and the name of the first"
        )


def _store_base(
    args: argparse.Namespace, robot: TouchedRobot, names: Sequence[str], T: pin.SE3
) -> int:
    tree = read_recorded_urdf(robot.info, robot.urdf)
    limbs = (find_limb(robot.info, names[0]), find_limb(robot.info, names[1]))
    return _store(args, robot, place_base(robot, tree, limbs, T), {})


def _store(
    args: argparse.Namespace, robot: TouchedRobot, urdf: str, eefs: dict[str, str]
) -> int:
    if args.dry_run:
        return 0
    if robot.follower not in known_names("follower"):
        raise ConfigError(
            f"calibrate: expected a follower that `paprle list` names, got "
            f"'{robot.follower}'; put its YAML into configs/site/follower, or see the "
            "result alone by --dry-run"
        )
    read_recorded_urdf(robot.info, urdf)  # the site keeps what can be loaded
    for path in store_robot(robot, urdf, eefs):
        say(f"written: {path}")
    resolve(["leader=autopilot", f"follower={robot.follower}", "env=kinematic"])
    return 0


def _choose_limbs(info: RobotInfo, names: list[str]) -> list[str]:
    known = [limb.name for limb in info.limbs]
    if not any(names) and len(known) > 1:
        return known[:2]
    if len(set(names)) < len(names) or not set(names) <= set(known):
        raise ConfigError(
            f"calibrate bases: expected two limbs of {', '.join(known)}, got "
            f"'{names[0]}' and '{names[1]}'; name them with --limbs, or give the "
            "recordings of another robot with --second"
        )
    return names


def _pair(
    first: tuple[Touch, ...], second: tuple[Touch, ...]
) -> list[tuple[Touch, Touch]]:
    if any(one.point for one in (*first, *second)):
        ours, theirs = ({one.point: one for one in side} for side in (first, second))
        alone = ours.keys() ^ theirs.keys()
        if alone:
            raise ConfigError(
                "calibrate bases: expected each point touched by both arms, got "
                f"{', '.join(repr(name) for name in sorted(alone))} of one alone; "
                "write 'touch POINT' with the same POINT for both"
            )
        return [(one, theirs[name]) for name, one in ours.items()]
    if len(first) != len(second):
        raise ConfigError(
            "calibrate bases: expected as many touches of both arms, got "
            f"{len(first)} and {len(second)}; touch the same points in the same order"
        )
    return list(zip(first, second, strict=True))


def _place(pairs: list[tuple[Touch, Touch]]) -> BaseResult:
    points: list[Vec] = [
        np.array([pair[k].T_base_eef.translation for pair in pairs]).reshape(-1, 3)
        for k in (0, 1)
    ]
    return find_base_by_points(*points)


def _describe_tool(result: ToolResult, touches: tuple[Touch, ...]) -> list[str]:
    x, y, z = 1e3 * result.p_eef_tool
    used = [one for k, one in enumerate(touches) if k not in result.dropped]
    lines = [
        f"tool at {x:.1f}, {y:.1f}, {z:.1f} mm in the eef, spread "
        f"{1e3 * result.sigma:.2f} mm"
    ]
    lines += [
        f"  {one.place}: {1e3 * off:.2f} mm from the point"
        for one, off in zip(used, result.residuals, strict=True)
    ]
    lines += [f"  {touches[k].place}: dropped" for k in result.dropped]
    if result.sigma > _WIDE[0]:
        lines.append("for a spread below 1 mm touch it more often, tilted otherwise")
    return lines


def _describe_bases(result: BaseResult, pairs: list[tuple[Touch, Touch]]) -> list[str]:
    lines = [
        _describe_pose(result.T_first_second),
        f"spread {1e3 * result.sigma_place:.2f} mm and "
        f"{np.rad2deg(result.sigma_turn):.3f}°",
    ]
    lines += [
        f"  {one.place} and {two.place}: {1e3 * off:.2f} mm apart"
        for (one, two), off in zip(pairs, result.residuals, strict=True)
    ]
    if result.sigma_place > _WIDE[0] or result.sigma_turn > _WIDE[1]:
        lines.append(
            "for a spread below 1 mm and 0.1° touch more points, farther apart, or "
            "give one camera of both arms (--cameras)"
        )
    return lines


def _describe_pose(T: pin.SE3) -> str:
    xyz = ", ".join(f"{value:.6f}" for value in T.translation)
    rpy = ", ".join(f"{value:.7f}" for value in pin.rpy.matrixToRpy(T.rotation))
    return f"second base in the first: {{xyz: [{xyz}], rpy_xyz_extrinsic: [{rpy}]}}"


_NOTES = """\
A touch is a note of an episode: drive the arm to the point by any leader, let it rest
there, and write `touch` as a note at the session's page (key #; console=on where the
leader is not the page). Each note is taken with the mean of the measured joints of the
0.3 s before it. Of several notes of one limb at one named point the last counts."""

CALIBRATE_TOOL = Verb(
    name="calibrate-tool",
    summary="Find the centre of a tool by touches of one point.",
    help=f"""\
{_NOTES} Touch one fixed point four times or
more, tilted by 30° and more to different sides each time; of six touches and more
those that disagree are dropped. With several limbs write `touch LIMB`.

The tool becomes a link of the robot, LIMB_tcp, which its limb is led by from then on:
a URDF in configs/site/urdf, named by configs/site/follower/NAME.yaml. Remove both to
forget it.

exit codes: 0 found and written; 1 a recording cannot be read; 2 refused, or the
touches do not determine the tool

examples:
  paprle run leader=web follower=xarm7 env=xarm session.episodes=1 record.dir=touched
  paprle calibrate tool touched/episode_000000.mcap""",
    add_arguments=_add_tool_arguments,
    run=_run_tool,
)

CALIBRATE_BASES = Verb(
    name="calibrate-bases",
    summary="Find one arm's base in another's by points that both touch.",
    help=f"""\
{_NOTES} Touch three points or more, not on
one line, with both arms, and name them: `touch LIMB POINT`, as `touch left a`; for two
robots `touch POINT`. Calibrate both tools first: the eefs are what touches.

One camera on the wall does, too: calibrate it with each arm, under two names, the
second with --lens and the first's name, and give both with --cameras.

For two limbs of one robot the fixed joint above the second base is moved: a URDF in
configs/site/urdf, named by configs/site/follower/NAME.yaml. For two robots the result
is printed.

exit codes: 0 found and written; 1 a recording cannot be read; 2 refused, or the points
do not determine it

examples:
  paprle calibrate bases touched/episode_000000.mcap --limbs left right
  paprle calibrate bases a/episode_000000.mcap --second b/episode_000000.mcap
  paprle calibrate bases --cameras front_left front_right leader=autopilot \\
      follower=so101_2arm env=feetech""",
    add_arguments=_add_bases_arguments,
    run=_run_bases,
)
