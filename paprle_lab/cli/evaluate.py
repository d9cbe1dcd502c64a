"""Verb ``evaluate``: measures episodes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paprle.cli.verb import Verb, complain, say
from paprle.config import resolve
from paprle.contracts.errors import ConfigError, MissingDependency
from paprle.hosts.operator.slow_work import SlowWork
from paprle.hosts.plan import make_robot
from paprle.recording.exports import is_arbot_csv
from paprle.recording.robot import make_limbs
from paprle_lab.evaluation.bags import BagTopics
from paprle_lab.evaluation.bodies.strict import judge_strictly
from paprle_lab.evaluation.reporting.files import choose_folder
from paprle_lab.evaluation.reporting.report import (
    evaluate,
    find_report,
    is_worth_writing,
    summary_text,
)
from paprle_lab.trials.labels import INDEX, find_logs, is_index, list_trials
from paprle_lab.trials.report import describe_set, evaluate_set, write_set


def _add_evaluate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "episodes",
        nargs="+",
        type=Path,
        metavar="EPISODE",
        help=".mcap files, ROS bags, logs of ARBot (.csv), or an index of trials",
    )
    parser.add_argument("--json", action="store_true", help="print the JSON")
    parser.add_argument(
        "--out", type=Path, help="folder of the report (default: the episode's)"
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="judge clearance by the robot's meshes, too; exit with 1 on any fault",
    )
    bags = parser.add_argument_group("for a ROS bag")
    bags.add_argument("--target", default="", help="topic of the targets")
    bags.add_argument("--actual", default="", help="topic of the measured motion")
    bags.add_argument("--robot", help="follower that the joints belong to")
    bags.add_argument("--limb", help="limb of that follower (default: the first)")


def _find_bag_topics(args: argparse.Namespace) -> BagTopics:
    if bool(args.target) != bool(args.actual):
        raise ConfigError("evaluate: expected both --target and --actual, got one")
    limb = None
    if args.robot:
        words = ("leader=autopilot", f"follower={args.robot}", "env=kinematic")
        robot = make_robot(resolve(words)).info
        limbs = make_limbs(robot, robot.urdf_path.read_text(encoding="utf-8"))
        name = args.limb or next(iter(limbs))
        if name not in limbs:
            raise ConfigError(
                f"evaluate --limb: expected one of {', '.join(limbs)}, got '{name}'"
            )
        limb = limbs[name]
    return BagTopics(target=args.target, actual=args.actual, limb=limb)


def _evaluate(args: argparse.Namespace) -> int:
    missing = [path for path in args.episodes if not path.exists()]
    if missing:
        raise ConfigError(
            f"evaluate: expected an episode, got '{missing[0]}'; no such file"
        )
    out = args.out or choose_folder(args.episodes)
    if any(is_arbot_csv(p) or is_index(p) or find_logs(p) for p in args.episodes):
        if args.strict:
            raise ConfigError(
                "evaluate: expected recordings beside --strict, got logs of trials"
            )
        return _evaluate_set(args, out)
    page = find_report(args.episodes, out)
    figures = page.with_suffix(".json")
    is_there = figures.exists()
    try:
        with SlowWork("measuring") as work:
            results = evaluate(args.episodes, out, _find_bag_topics(args), work)
        told = f"report: {page}"
    except MissingDependency as err:  # The figures are there, only the page is not.
        complain(str(err))
        results = json.loads(figures.read_text(encoding="utf-8"))
        told = f"figures: {figures}"
    code = _find_exit_code(results)
    if not is_worth_writing(results, is_there=is_there):
        told = ""
        complain(f"no report was written{'; the last one stays' if is_there else ''}")
    if args.json:
        say(json.dumps(results, indent=2, allow_nan=False))
    else:
        say("\n\n".join(filter(None, (summary_text(results), told))))
    return max(code, _judge_strictly(args, results)) if args.strict else code


def _judge_strictly(args: argparse.Namespace, results: list[dict[str, Any]]) -> int:
    judged = [
        judge_strictly(path, entry)
        for path, entry in zip(args.episodes, results, strict=True)
    ]
    for lines, _ in judged:
        for line in lines:
            complain(line) if args.json else say(line)
    return 0 if all(is_right for _, is_right in judged) else 1


def _evaluate_set(args: argparse.Namespace, out: Path) -> int:
    with SlowWork("measuring the trials") as work:
        figures, results = evaluate_set(list_trials(args.episodes), work)
    names = [p / INDEX if p.is_dir() else p for p in args.episodes]
    page = find_report(names, out)
    told = f"report: {page}"
    try:
        with SlowWork("drawing the report"):
            write_set(figures, results, page)
    except MissingDependency as err:  # The figures are there, only the page is not.
        complain(str(err))
        told = f"figures: {page.with_suffix('.json')}"
    if args.json:
        say(json.dumps(figures, indent=2, allow_nan=False))
    else:
        say(f"{describe_set(figures)}\n\n{told}")
    return 0


def _find_exit_code(results: Sequence[dict[str, Any]]) -> int:
    failed = [entry for entry in results if entry.get("error")]
    for entry in failed:
        complain(f"{entry['episode']}: {entry['error']}")
    return 1 if failed else 0


EVALUATE = Verb(
    name="evaluate",
    summary="Measure episodes: errors, lag, latencies, gate, timing; write a report.",
    help="""\
Writes EPISODE.report.json and EPISODE.report.html beside the (first) episode; of a bag
into the current folder. Episodes of the same source and robot are compared with each
other (ITV) unless they were discarded. The exit code is 1 if an episode cannot be
measured; a failed report never replaces one that succeeded. --strict also finds where
the meshes of a robot touched that `paprle new-robot` described, over pairs of its own,
and ends with 1 where any clause was broken or any meshes touched.
Logs of ARBot's evaluator, and trials.csv, an index of logs and recordings with users,
tasks and modes (`paprle dataset index`), are judged as one set: a table each, ITV of
repetitions, distributions, errors along the paths. Without an index, H1.csv H2.csv are
two trials of `h`, robot_1.csv is a robot's replay; a folder stands for its logs.
In a ROS bag, .../target_pose is compared with .../actual_pose, as observers.ros sends
them, or the two topics of poses or joints given by --target and --actual.

examples:
  paprle evaluate OUT/episode_000000.mcap
  paprle evaluate OUT/*.mcap --json --out REPORT
  paprle evaluate OUT/episode_000000.mcap --strict
  paprle evaluate static/dataset
  paprle evaluate BAG --robot piper --target /cmd --actual /joint_states""",
    add_arguments=_add_evaluate,
    run=_evaluate,
)
