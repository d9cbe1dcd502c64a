"""Verb ``collision``: shows the distances of pairs of links."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from paprle.cli.verb import Verb, add_settings, say
from paprle.config import Resolved, resolve
from paprle.config.folders import DATA
from paprle.contracts.errors import ConfigError
from paprle.contracts.types import Vec
from paprle.hosts.operator.slow_work import SlowWork
from paprle.robot import RobotModel
from paprle.robot.bodies.arrays import make_bodies

# A robot's pairs do not depend on these, but a config names all three.
_ANY = ("leader=autopilot", "env=kinematic")


@dataclass(frozen=True, slots=True)
class _Row:
    a: str
    b: str
    clearance: float
    keep: float
    asked: float

    @property
    def spare(self) -> float:
        return self.clearance - self.keep


def _add_collision(parser: argparse.ArgumentParser) -> None:
    add_settings(parser)
    parser.add_argument(
        "--q",
        nargs="+",
        default=["home"],
        metavar="joint=value",
        help="posture: home, with these joints changed [rad] or [m]",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, in metres")


def _collision(args: argparse.Namespace) -> int:
    resolved = resolve([*_ANY, *args.settings])
    name, scene = resolved.follower_name, resolved.gate.scene
    with SlowWork("reading the robot") as work:
        robot = RobotModel.from_settings(resolved.robot, name, DATA, scene)
        q = _read_q(args.q, robot)
        work.note("measuring distances")
        rows = _measure(robot, resolved, q)
        left_out = robot.make_collision_model(scene).left_out
    if args.json:
        say(_to_json(robot, q, rows, left_out))
    else:
        at = "home" if args.q == ["home"] else f"home but for {' '.join(args.q)}"
        say("\n".join(_describe(f"{name} at {at}", rows, left_out)))
    return 1 if any(row.spare < 0.0 for row in rows) else 0


def _read_q(words: Sequence[str], robot: RobotModel) -> Vec:
    q, problems = robot.home.copy(), []
    for word in words:
        joint, _, value = word.partition("=")
        if word == "home":
            continue
        if joint not in robot.joint_names:
            joints = ", ".join(robot.joint_names)
            problems.append(
                f"--q: expected joints of {robot.name} ({joints}), got '{word}'; "
                "settings go before --q"
            )
            continue
        try:
            q[robot.joint_names.index(joint)] = float(value)
        except ValueError:
            problems.append(f"--q: expected a number for '{joint}', got '{value}'")
    if problems:
        raise ConfigError(problems)
    return q


def _measure(robot: RobotModel, resolved: Resolved, q: Vec) -> list[_Row]:
    gate = resolved.gate
    _, pairs, names = make_bodies(robot, gate)
    clearances = robot.make_collision_model(gate.scene).clearances(q)
    rows: dict[tuple[str, str], _Row] = {}
    for (a, b), clearance, keep in zip(names, clearances, pairs.keep, strict=True):
        is_scene = a in gate.scene or b in gate.scene
        asked = gate.clearance_scene if is_scene else gate.clearance_self
        row = _Row(a, b, float(clearance), float(keep), asked)
        if (a, b) not in rows or row.spare < rows[a, b].spare:
            rows[a, b] = row
    return sorted(rows.values(), key=lambda row: row.clearance)


def _describe(
    title: str, rows: Sequence[_Row], left_out: dict[tuple[str, str], str]
) -> Iterator[str]:
    yield f"{title}: {len(rows)} pairs of links are kept apart; nearest first"
    if rows:
        yield f"{'now':>10} {'kept':>10}"
    for row in rows:
        notes = []
        if row.keep < row.asked:
            notes.append(f"of {1e3 * row.asked:.1f} mm asked: 90 % of home")
        if row.spare < 0.0:
            notes.append("TOO NEAR" if row.clearance > 0.0 else "OVERLAP")
        tail = f"  ({'; '.join(notes)})" if notes else ""
        now, kept = f"{1e3 * row.clearance:.1f} mm", f"{1e3 * row.keep:.1f} mm"
        yield f"{now:>10} {kept:>10}  {row.a} – {row.b}{tail}"
    yield "left out, by reason:"
    for why in dict.fromkeys(left_out.values()):
        found = [f"{a} – {b}" for (a, b), reason in left_out.items() if reason == why]
        yield f"  {why}: {', '.join(found)}"


def _to_json(
    robot: RobotModel,
    q: Vec,
    rows: Sequence[_Row],
    left_out: dict[tuple[str, str], str],
) -> str:
    return json.dumps(
        {
            "follower": robot.name,
            "q": dict(zip(robot.joint_names, q.tolist(), strict=True)),
            "pairs": [asdict(row) for row in rows],
            "left_out": [{"a": a, "b": b, "why": w} for (a, b), w in left_out.items()],
        },
        indent=2,
        ensure_ascii=False,
    )


COLLISION = Verb(
    name="collision",
    summary="Show the pairs of links that are kept apart, and their distances.",
    help="""\
Pairs come from the boxes, spheres, cylinders and capsules of the URDF; meshes do not
count. Left out are links of one rigid part, links that one joint connects, fingers of
one gripper, and bodies that touch in every posture tried. You can leave out a pair and
add bodies:

  a pair whose contact is harmless, in configs/follower/NAME.yaml:
    ignore_collisions:
      - [link5, gripper_base]
  bodies beside the robot, in its root link [m, rad], in configs/site/session.yaml:
    gate:
      scene:
        desk: {shape: box, size: [1.2, 0.8, 0.05], xyz: [0.4, 0.0, -0.025]}
        floor: {shape: ground, xyz: [0.0, 0.0, -0.75]}
    shapes: box [x, y, z]; sphere [radius]; cylinder and capsule [radius, length];
    ground: everything below its xy plane.

The clearance is gate.clearance_self and gate.clearance_scene. A pair that is nearer
than that at home keeps 90 % of its distance at home, so that the robot can stand at
home. Where that is too near, choose another home or smaller bodies in the URDF.

exit codes: 0 all pairs keep their clearance; 1 some do not; 2 refused

examples:
  paprle collision follower=piper
  paprle collision follower=piper --q joint2=2.5 joint3=-2.0
  paprle collision follower=ur5e 'gate.scene={floor: {shape: ground}}' --json""",
    add_arguments=_add_collision,
    run=_collision,
)
