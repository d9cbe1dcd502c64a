"""Verb ``latency``: measures a rig's delays."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from paprle.cli.verb import EXIT_CODES, Verb, add_settings, say
from paprle.config import Resolved, resolve
from paprle.config.folders import SESSION, find_site
from paprle.config.layers import TRIPLE
from paprle.config.measured import store_latency
from paprle.contracts.errors import ConfigError, RecordingError
from paprle.hosts import run
from paprle.hosts.exit_codes import NOT_FOLLOWED
from paprle_lab.evaluation.episode import measure_episode
from paprle_lab.evaluation.photons import measure_film, parse_region
from paprle_lab.evaluation.reporting.files import write_text

_SECONDS = 20.0  # chosen: nine windows of a hand's motion


def _add_latency(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seconds", type=float, default=_SECONDS, help="how long to lead (default: 20)"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="measure and print, write nothing"
    )
    film = parser.add_argument_group("photon to photon, of a film instead of a session")
    film.add_argument("--film", type=Path, help="a camera saw both places at once")
    film.add_argument("--first", help="x,y,width,height [px]: the hand, or the robot")
    film.add_argument("--second", help="the robot, or the screen that shows it")
    add_settings(parser)


def _latency(args: argparse.Namespace) -> int:
    resolved = resolve(args.settings)
    code = 0
    if args.film is not None:
        found = _measure_film(args)
    else:
        if not 1.0 <= args.seconds <= 600.0:
            raise ConfigError(
                f"latency: expected --seconds 1 … 600, got {args.seconds:g}"
            )
        code, found = _measure_session(args.settings, args.seconds)
        if not found:
            return code
    names = {part: getattr(resolved, f"{part}_name") for part in TRIPLE}
    if not args.dry_run:
        _store(found, names)
    return code


def _measure_film(args: argparse.Namespace) -> dict[str, float]:
    if args.first is None or args.second is None:
        raise ConfigError("latency --film: expected --first and --second, got not both")
    if not args.film.is_file():
        raise ConfigError(f"latency --film: expected a video, got '{args.film}'")
    found = measure_film(args.film, parse_region(args.first), parse_region(args.second))
    say(
        f"photon to photon    {1e3 * found.delay:6.1f} ms ± {1e3 * found.spread:.1f} "
        f"({found.n_windows} windows, {found.rate:.1f} images/s)"
    )
    if found.delay < 0.0:
        raise RecordingError(
            f"{args.film}: expected the second region to be later, got "
            f"{1e3 * found.delay:.1f} ms; nothing was written"
        )
    return {
        "photon_to_photon": round(found.delay, 5),
        "photon_spread": round(found.spread, 5),
    }


def _measure_session(
    settings: list[str], seconds: float
) -> tuple[int, dict[str, float]]:
    say(f"lead the robot to and fro, every joint of it, for {seconds:g} s")
    with tempfile.TemporaryDirectory(prefix="paprle-latency-") as folder:
        words = [f"session.duration={seconds!r}", f"record.dir={folder}", *settings]
        resolved: Resolved = resolve([*words, "session.episodes=1"])
        if resolved.session.clock == "virtual":
            raise ConfigError(
                "latency: expected session.clock=wall, got virtual, on which nothing "
                "takes time"
            )
        out = Path(str(resolved.record.dir))
        before = set(out.glob("episode_*.mcap"))
        code = run(resolved)
        made = sorted(set(out.glob("episode_*.mcap")) - before)
        if code not in {0, NOT_FOLLOWED} or not made:
            return code or 1, {}
        entry = measure_episode(made[-1]).entry
    if entry["error"]:
        raise RecordingError(str(entry["error"]))
    return code, summarise_latency(entry["latency_ms"])


def summarise_latency(latency_ms: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return ``record.latency`` [s] from printed latencies [ms].

    Raises:
        RecordingError: If the robot moved too little.
    """
    command, motion = (
        latency_ms[k] for k in ("capture_to_command", "command_to_motion")
    )
    if command["p50"] is None or motion["p50"] is None:
        raise RecordingError(
            "latency: expected joints that move to and fro, got too little motion to "
            "measure a delay; nothing was written"
        )
    total = max(command["p50"], 0.0) + max(motion["p50"], 0.0)
    for name, told in (
        ("sample to command", f"{command['p50']:6.1f} ms, p99 {command['p99']:.1f}"),
        ("command to motion", f"{motion['p50']:6.1f} ms, p99 {motion['p99']:.1f}"),
        ("sample to motion", f"{total:6.1f} ms, sum of both medians"),
    ):
        say(f"{name:<19} {told}")
    return {
        "capture_to_command": round(max(command["p50"], 0.0) * 1e-3, 5),
        "capture_to_command_p99": round(max(command["p99"], 0.0) * 1e-3, 5),
        "command_to_motion": round(max(motion["p50"], 0.0) * 1e-3, 5),
        "sample_to_motion": round(total * 1e-3, 5),
    }


def _store(found: Mapping[str, float], names: Mapping[str, str]) -> None:
    site = find_site()
    path = site.path / SESSION
    tree = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}
    tree = tree if isinstance(tree, dict) else {}
    store_latency(tree, found, names)
    write_text(path, yaml.safe_dump(tree, sort_keys=False, allow_unicode=True))
    say(f"written to {path}; recordings of this rig carry it")


LATENCY = Verb(
    name="latency",
    summary="Measure how late a rig's robot follows its leader, and keep it.",
    help=f"""\
Runs a session of one episode with the leader, follower and env given, as `run` does,
and measures from the leader's samples to commands, and from those to the joints'
motion. The result goes to record.latency in configs/site/session.yaml, under the names
of the triple: every recording of that triple carries it in its config, and every data
set, too.

--film measures photon to photon: a camera that sees the hand and the robot, or the
robot and the screen that shows it. The second region is later than the first.

examples:
  paprle latency leader=puppeteer_piper follower=piper env=can
  paprle latency leader=autopilot follower=piper env=mujoco --dry-run
  paprle latency --film hand.mp4 --first 40,200,300,300 --second 700,150,400,400 \\
      leader=puppeteer_piper follower=piper env=can

{EXIT_CODES}""",
    add_arguments=_add_latency,
    run=_latency,
)
