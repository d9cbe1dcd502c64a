"""Verb ``find-cameras``: takes a picture of each camera."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from paprle.cli.verb import SETTINGS, Verb, say
from paprle.config import known_names, resolve
from paprle.config.laws import list_named
from paprle.contracts.errors import PaprleError
from paprle.contracts.images import EXACT, CameraInfo, Frame, RobotPose
from paprle.contracts.plugins import Camera
from paprle.contracts.types import RobotInfo
from paprle.hosts.factories import make_camera
from paprle.hosts.plan import make_robot
from paprle.plugins import list_plugins, load_factory
from paprle.recording.video.codec import make_encoder

_SOON = 3.0  # [s] chosen: a sensor that was just switched on needs some time for light
_SETTLE = 5  # [images] chosen: the first ones are dark on many cameras
_FOLDER = "cameras_found"


class _Asked(NamedTuple):
    title: str
    name: str
    words: tuple[str, ...]


def _find(args: argparse.Namespace) -> int:
    asked = [*_list_found(), *_list_named(args.settings)]
    if not asked:
        say("no camera was found; name one: paprle find-cameras cameras.NAME.type=…")
        return 1
    folder = Path(args.out)
    n_well = [_show(one, args.settings, folder) for one in asked].count(True)
    return 0 if n_well == len(asked) else 1


def _list_found() -> Iterator[_Asked]:
    for kind, spec in list_plugins("camera").items():
        try:
            factory: type[Camera] = load_factory(spec)
            found = list(factory.find())
        except PaprleError as err:
            say(f"{kind}: not looked for: {err}")
            continue
        for n, one in enumerate(found):
            name = f"{kind}_{n}"
            values = {"type": kind, **one.settings}
            words = tuple(f"cameras.{name}.{k}={v}" for k, v in values.items())
            yield _Asked(f"{kind}: {one.name}", name, words)


def _list_named(settings: list[str]) -> list[_Asked]:
    resolved = resolve(_fill_in(settings))
    return [
        _Asked(f"{config.type}: named '{name}'", name, ())
        for name, config in list_named(resolved.cameras).items()
    ]


def _fill_in(settings: list[str]) -> list[str]:
    anything = ["leader=autopilot", f"follower={known_names('follower')[0]}"]
    return [*anything, "env=kinematic", *settings]


def _show(asked: _Asked, settings: list[str], folder: Path) -> bool:
    say(asked.title)
    if asked.words:
        say(f"  {' '.join(asked.words)}")
    try:
        resolved = resolve(_fill_in([*settings, *asked.words]))
        camera = make_camera(resolved, asked.name)
        robot = make_robot(resolved).info
        camera.watch(robot, resolved.to_dict()["env"], lambda: _stand(robot))
        info = camera.info
        frame, rate = _take_picture(camera)
    except PaprleError as err:
        say(f"  FAULT {err}")
        return False
    size = f"{info.width} × {info.height} {info.encoding}"
    path = folder / f"{asked.name}.{'png' if info.encoding in EXACT else 'jpg'}"
    _write(info, frame, path)
    say(f"  ok    {size}, {rate:.0f} images/s, stamps by {camera.stamped_by}: {path}")
    return True


def _stand(robot: RobotInfo) -> RobotPose:
    return RobotPose(time.monotonic_ns(), robot.home, {})


def _take_picture(camera: Camera) -> tuple[Frame, float]:
    taken: list[Frame] = []
    try:
        camera.open()
        end = time.monotonic() + _SOON
        while len(taken) < _SETTLE and time.monotonic() < end:
            frame = camera.grab(0.1)
            taken += [frame] if frame is not None else []
    finally:
        camera.close()
    if len(taken) < 2:
        raise PaprleError(f"expected images within {_SOON:g} [s], got {len(taken)}")
    time_ns = max(1, taken[-1].stamp_ns - taken[0].stamp_ns)
    return taken[-1], (len(taken) - 1) * 1e9 / time_ns


def _write(info: CameraInfo, frame: Frame, path: Path) -> None:
    coded = make_encoder(info, "jpeg").encode(frame.stamp_ns, frame.data)
    if coded is None:
        raise PaprleError("expected an image, got bytes that are none")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(coded.data)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("settings", nargs="*", metavar="key=value", help="see below")
    parser.add_argument(
        "--out", default=_FOLDER, help=f"where the pictures go; {_FOLDER} when absent"
    )


FIND = Verb(
    name="find-cameras",
    summary="Show the cameras there are, with a picture of each.",
    help=f"""\
Lists what is connected to this machine, and what the settings or the robot's YAML name;
takes a picture of each, and prints the words that choose it.

{SETTINGS}

exit codes: 0 each gave a picture, 1 one did not, or there is none; 2 refused

examples:
  paprle find-cameras
  paprle find-cameras cameras.door.type=opencv cameras.door.device=http://10.0.0.5/video
  paprle find-cameras follower=./my_rig.yaml env=kinematic""",
    add_arguments=_add_arguments,
    run=_find,
)
