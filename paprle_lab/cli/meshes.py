"""The verb that gets meshes of an arm's maker: ``meshes``."""

from __future__ import annotations

import argparse
from pathlib import Path

from paprle.cli.verb import Verb, say
from paprle.config import resolve
from paprle.contracts.urdf import maker_meshes
from paprle.hosts.operator.slow_work import SlowWork
from paprle.hosts.plan import make_robot
from paprle_lab.onboarding.makers.descriptions import download, list_known, read_urdf
from paprle_lab.onboarding.makers.maker_meshes import make_meshes


def _add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "follower",
        help=f"the robot; with a download: {', '.join(list_known())}",
    )
    parser.add_argument(
        "--urdf",
        type=Path,
        help="a URDF of the same robot with meshes, in place of the download",
    )
    parser.add_argument(
        "--remove", action="store_true", help="draw the robot's own bodies again"
    )


def _run(args: argparse.Namespace) -> int:
    words = ["leader=autopilot", f"follower={args.follower}", "env=kinematic"]
    info = make_robot(resolve(words)).info
    path = maker_meshes.find_file(info.name)
    if args.remove:
        path.unlink(missing_ok=True)
        say(f"removed: {path}")
        return 0
    with SlowWork("getting the maker's description") as work:
        description = read_urdf(args.urdf) if args.urdf else download(args.follower)
        work.note("reading meshes")
        made, notes = make_meshes(info, description, work)
    maker_meshes.write(path, info, made)
    n_faces = sum(len(mesh.faces) for mesh in made.meshes)
    lines = [
        f"{args.follower}: meshes of {len(made.links)} links, {n_faces} triangles",
        f"source: {made.source}",
        f"written: {path}; pages and the viewer draw them from now on",
    ]
    say("\n".join([*lines, *notes]))
    return 0


MESHES = Verb(
    name="meshes",
    summary="Get the meshes of an arm's maker, for the pictures of its robot.",
    help="""\
The repository has no files of makers: a robot is drawn with the bodies that the gate
keeps apart. This verb downloads the maker's description once (robot_descriptions, in
~/.cache/robot_descriptions; pip install 'paprle[meshes]'), or reads a URDF that is
given, and keeps small copies of its visual meshes in ~/.cache/paprle/meshes. Pages and
the viewer draw them. A joint counts if it moves as ours does in random postures;
bodies of others stay. Reports and the gate never use them.

examples:
  paprle meshes so101
  paprle meshes ur5e --urdf ~/ws/install/ur_description/share/ur5e.urdf""",
    add_arguments=_add,
    run=_run,
)
