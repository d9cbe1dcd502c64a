"""Verb ``identify``: measures lag, friction and delay of a rig."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from paprle.cli.interactive import end_softly
from paprle.cli.verb import Verb, add_settings, print_closing_notes, say
from paprle.config import Resolved, resolve
from paprle.config.folders import SESSION, find_site
from paprle.config.layers import TRIPLE
from paprle.config.measured import store
from paprle.config.parts import has_parts
from paprle.contracts.errors import ConfigError
from paprle.contracts.plugins import Leader
from paprle.contracts.types import FollowerInfo, LeaderInfo
from paprle.gate.controller import GateController
from paprle.haptics.haptics import Haptics
from paprle.haptics.identify import FollowerLag
from paprle.haptics.probe import probe_follower, probe_leader
from paprle.hosts.factories import list_objects, make_leader
from paprle.hosts.plan import find_rate, make_follower, make_robot, make_through
from paprle.hosts.processes.open_follower import open_follower
from paprle.ipc.loop import DeadlineLoop, request_realtime
from paprle.ipc.records import make_layout
from paprle.retargeting.leader_arms import load_arms
from paprle.retargeting.pairing import make_pairing
from paprle.robot import RobotModel

_NEAR = 0.005  # [s] chosen: a period of most robots; the fit is no better
_POOR = 0.3  # chosen: a fit that leaves more than this of the motion says little


def _add_identify(parser: argparse.ArgumentParser) -> None:
    add_settings(parser)
    parser.add_argument(
        "--only", choices=("leader", "follower"), help="measure only one side"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="measure and print, write nothing"
    )


def _identify(args: argparse.Namespace) -> int:
    resolved = resolve(args.settings)
    request_realtime()
    robot = make_robot(resolved)
    leader = None if args.only == "follower" else _open_leader(resolved)
    found: dict[str, Any] = {}
    poor: list[str] = []
    with end_softly():
        try:  # the robot moves only once the leader is known to be there
            if args.only != "leader":
                found |= _measure_follower(resolved, robot, poor)
            if leader is not None:
                found |= _measure_leader(resolved, robot, leader, poor)
        finally:
            if leader is not None:
                leader.close()
                print_closing_notes(leader)
    if poor:
        raise ConfigError([f"{text}; nothing was written" for text in poor])
    say(yaml.safe_dump({"feedback": {"rig": found}}, sort_keys=False))
    if not args.dry_run:
        names = {part: getattr(resolved, f"{part}_name") for part in TRIPLE}
        site = find_site()
        write_site(site.path / SESSION, found, names)
        say(f"written to {site.label}/{SESSION}")
    return 0


def _open_leader(resolved: Resolved) -> Leader | None:
    leader = make_leader(resolved)
    if leader.info.renders != "torque":
        say(f"leader '{resolved.leader_name}' renders no torque; nothing to measure")
        return None
    if any(arm.carries_itself for arm in leader.info.arms.values()):
        say(
            f"leader '{resolved.leader_name}' falls without torque, so that its joints "
            "do not swing by themselves; nothing to measure"
        )
        return None
    leader.open()
    return leader


def _measure_follower(
    resolved: Resolved, robot: RobotModel, poor: list[str]
) -> dict[str, Any]:
    follower = make_follower(resolved, robot)
    layout = make_layout(robot.info, make_leader(resolved).info, list_objects(resolved))
    info, notes = open_follower(resolved, follower, robot.info)
    for note in notes:
        say(note)
    say("the follower moves by a few degrees around its posture, for 14 s")
    try:
        controller = GateController(
            robot, resolved.gate, follower, info, layout, 1.0 / info.rate
        )
        lags = probe_follower(controller, robot, layout, DeadlineLoop(info.rate))
    finally:
        follower.close("hold")
    for joint, lag in lags.items():
        say(f"  {joint}: {_describe(lag)}")
        if lag.residual > _POOR:
            poor.append(f"{joint}: a lag does not explain its motion")
    if not lags:
        poor.append(f"follower '{robot.name}': no joint moved")
        return {}
    found = summarise_lags(lags)
    key = "LIMB.lag" if has_parts(resolved.env_type) else "lag"
    told = advise_lag(found, info, resolved.follower_name, resolved.env_name, key)
    if told:
        say(told)
    return found


def advise_lag(
    found: Mapping[str, Any],
    info: FollowerInfo,
    follower: str,
    env: str,
    key: str = "lag",
) -> str:
    """Return advice on a robot's configured lag, or an empty text."""
    lag = found["dead_time"] + found["time_constant"]
    if info.simulated or abs(lag - info.lag) <= _NEAR:
        return ""
    return (
        f"the gate counts on a lag of {1e3 * info.lag:.0f} ms, measured are "
        f"{1e3 * lag:.0f} ms: set envs.{env}.{key} to {lag:.3f} in "
        f"{find_site().label}/follower/{follower}.yaml (or env.{key}={lag:.3f})"
    )


def summarise_lags(lags: Mapping[str, FollowerLag]) -> dict[str, Any]:
    """Return ``feedback.rig`` of lags by joint."""
    slowest = max(lags.values(), key=lambda lag: lag.dead_time + lag.time_constant)
    return {
        "dead_time": slowest.dead_time,
        "time_constant": slowest.time_constant,
        "lags": {
            name: [lag.dead_time, lag.time_constant] for name, lag in lags.items()
        },
        "drive_stiffness": {
            name: round(lag.stiffness, 1)
            for name, lag in lags.items()
            if math.isfinite(lag.stiffness)
        },
    }


def _describe(lag: FollowerLag) -> str:
    return (
        f"dead time {1e3 * lag.dead_time:.0f} ms, time constant "
        f"{1e3 * lag.time_constant:.0f} ms ({lag.residual:.0%} unexplained)"
    )


def _measure_leader(
    resolved: Resolved, robot: RobotModel, leader: Leader, poor: list[str]
) -> dict[str, Any]:
    haptics = _make_haptics(resolved, robot, leader.info)
    viscous: dict[str, float] = {}
    coulomb: dict[str, float] = {}
    ages: list[float] = []
    say("hands off the leader: each joint moves a little, 10 s each")
    time.sleep(0.5)  # noqa: TID251 - its first samples, nothing is moving
    for limb in haptics.limbs:
        for joint, name in enumerate(limb.joint_names):
            motor, age = probe_leader(leader, haptics, limb.name, joint)
            say(
                f"  {name}: viscous {motor.viscous:.3g} N·m·s/rad, dry "
                f"{motor.coulomb:.3g} N·m ({motor.residual:.0%} unexplained), "
                f"samples up to {1e3 * age:.1f} ms old"
            )
            if motor.residual > _POOR or motor.viscous <= 0.0:
                poor.append(f"{name}: friction does not explain its motion")
            viscous[name] = round(motor.viscous, 5)
            coulomb[name] = round(max(motor.coulomb, 1e-4), 5)
            ages.append(age)
    delay = max(ages) + count_periods(resolved, leader.info.rate)
    own = max(ages) + 1.0 / leader.info.rate
    return {
        "loop_delay": round(delay, 5),
        "leader_delay": round(own, 5),
        "viscous": viscous,
        "coulomb": coulomb,
    }


def count_periods(resolved: Resolved, bus: float) -> float:
    """Return the summed periods of session, gate (twice) and bus [Hz], in [s].

    The gate first passes on a command, then measures its effect.
    """
    gate = find_rate(resolved)
    return sum(1.0 / rate for rate in (resolved.session.rate, gate, gate, bus))


def _make_haptics(resolved: Resolved, robot: RobotModel, info: LeaderInfo) -> Haptics:
    arms = load_arms(info, make_through(resolved))
    pairing = make_pairing(robot, info, resolved.retarget, arms)
    layout = make_layout(robot.info, info)
    return Haptics(resolved.feedback, robot, info, pairing, layout)


def write_site(path: Path, found: dict[str, Any], names: Mapping[str, str]) -> None:
    """Store ``feedback.rig`` in ``configs/site/session.yaml``."""
    tree = yaml.safe_load(path.read_text()) if path.is_file() else {}
    tree = tree if isinstance(tree, dict) else {}
    store(tree, found, names)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "# feedback.rig: measured by paprle identify\n"
    path.write_text(text + yaml.safe_dump(tree, sort_keys=False, allow_unicode=True))


IDENTIFY = Verb(
    name="identify",
    summary="Measure lag, friction, damping and delay of a rig.",
    help="""\
The follower moves by up to 0.06 rad around its present posture, through its gate. The
lag of its positions behind its commands gives dead time and time constant per joint;
the longest ones enter the stability bound. Each joint of a leader with motors then
moves by its own torques, hands off; from this come its viscous and dry friction. The
age of its samples, plus one period of each loop they pass, is the delay of the loop.
Where the follower measures efforts, the stiffness of its drives is found, too.

Results go to feedback.rig in configs/site/session.yaml, for the stability bound of
force feedback and the lag model (docs/feedback.md), with the names of leader,
follower and env. A session with others does not use them, and prints a notice.

exit codes: 0 measured and written; 2 refused, or the measurement is too poor

examples:
  paprle identify leader=puppeteer_papras_7dof follower=papras_7dof env=mujoco
  paprle identify leader=puppeteer_ur5 follower=papras_7dof env=kinematic --only leader
  paprle identify leader=autopilot follower=piper env=mujoco --only follower""",
    add_arguments=_add_identify,
    run=_identify,
)
