"""Print how each camera did: see the package."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.camera_arm import metrics
from benchmarks.camera_arm.judge import Judge
from benchmarks.camera_arm.motions import (
    draw_habit,
    make_picks,
    read_recorded,
    write_tum,
)
from benchmarks.camera_arm.rigs import BALL, RIGS, SETTLE, draw_way
from paprle.config import resolve
from paprle.contracts.types import GateState
from paprle.hosts.virtual import VirtualSession
from paprle.recording.reader import Episode
from paprle_lab.evaluation.reporting.report import evaluate

VARIANTS = {  # what differs, and the limits of the camera's motion
    "camera arm": (),
    "as printed": (
        "advisors.viewpoint.variant=paper",
        "retarget.limbs.{camera}.motion={{max_acceleration: 0.1, max_jerk: 0.1}}",
    ),
    "autocam 2018": ("advisors.viewpoint.variant=autocam",),
}
WORDS = (
    "leader=offline",
    "leader.frame=relative",
    "env=mujoco",
    "env.block=false",
    "session.clock=virtual",
    "session.status=false",
    "session.episodes=1",
    "retarget.scale={scale}",
    "retarget.limbs.{arm}.from=hand",
    "retarget.limbs.{arm}.alignment=world",
    "retarget.limbs.{camera}.rule=look_at",
    "retarget.limbs.{camera}.of={arm}",
    "retarget.limbs.{camera}.advice=viewpoint",
    "advisors.viewpoint.type=viewpoint",
    "advisors.viewpoint.limb={camera}",
    "advisors.viewpoint.of={arm}",
    f"advisors.viewpoint.occluders.ball={BALL}",
)


class Told:
    """Advisor that knows the ball's place."""

    def __init__(self, advisor, way):
        self._advisor, self._way, self._begin_ns = advisor, way, None

    def advise(self, view, frames):
        if view.is_engaged and self._begin_ns is None:
            self._begin_ns = view.stamp_ns
        if self._begin_ns is not None:
            t = (view.stamp_ns - self._begin_ns) * 1e-9
            ball = np.array([*self._way.place(t), 0.0, 0.0, 0.0, 1.0])
            view = replace(view, objects={**view.objects, "ball": ball})
        return self._advisor.advise(view, frames)

    def __getattr__(self, name):
        return getattr(self._advisor, name)


def play(rig, way, path, folder, more):
    """Return config and recording of a motion."""
    words = [word.format(**rig._asdict()) for word in (*WORDS, *more)]
    words += [f"follower={rig.write_robot(folder)}", *rig.words]
    words += [f"leader.path={path}", f"record.dir={folder}"]
    resolved = resolve(words)
    session = VirtualSession(resolved, say=lambda _: None)
    advisors = session._advised.advisors  # noqa: SLF001
    advisors["viewpoint"] = Told(advisors["viewpoint"], way)
    session.run()
    return resolved, Episode.open(folder)


def measure_camera_arm(judge, episode, folder):
    """Return figures of moving cameras and safety."""
    entry = judge.judge(judge.arm_cam, judge.rig.carrier)
    for name, motion in (("asked", judge.asked), ("sent", judge.sent)):
        entry[f"{name}_a"], entry[f"{name}_jerk"] = metrics.find_roughness(*motion)
    gate = episode.gate[episode.gate["state"] == GateState.ENGAGED]
    entry["clearance"] = float(gate["clearance"].min())
    entry["arms_apart"] = judge.find_gap()
    entry["oracle"] = find_oracle(evaluate([folder]))
    return entry


def find_oracle(report):
    """Return the oracle's verdict in a report."""
    if isinstance(report, dict):
        if "oracle" in report:
            return str(report["oracle"]).splitlines()[0]
        report = list(report.values())
    if isinstance(report, list):
        return next((found for one in report if (found := find_oracle(one))), "")
    return ""


def run(name, path, rig, way):
    """Return all cameras' figures for one motion."""
    found = {}
    for variant, more in VARIANTS.items():
        with tempfile.TemporaryDirectory() as folder:
            resolved, episode = play(rig, way, path, Path(folder), more)
            judge = Judge(resolved, episode, way)
            found[variant] = measure_camera_arm(judge, episode, Path(folder))
        if variant == "camera arm":
            judge.views.clear()
            for camera, T in rig.static.items():
                found[camera] = judge.judge(np.repeat(T[None], len(judge.t), axis=0))
            any_of_three = float(np.any(judge.views, axis=0).mean())
            for camera in rig.static:
                found[camera]["free_any"] = any_of_three
            found["on the hand"] = judge.judge(judge.hand_cam, rig.hand)
        print_rows(name, {variant: found[variant]})
    print_rows(name, {k: v for k, v in found.items() if k not in VARIANTS})
    return found


def print_rows(name, rows):
    """Print a line for each camera."""
    for camera, e in rows.items():
        line = f"{name[:18]:<19}{camera:<14}"
        line += f"{100 * e['in_frame']:7.1f} %{100 * e['free']:7.1f} %"
        line += f"{e['angle_deg']:8.1f}°{e['roll_deg']:7.1f}°{e['distance']:8.2f} m"
        line += f"{e['turn_deg']:7.0f}°"
        if "free_any" in e:
            line += f"   one of the three: {100 * e['free_any']:.1f} %"
        if "sent_a" in e:
            for motion in ("asked", "sent"):
                line += f"{e[f'{motion}_a']:7.2f}{e[f'{motion}_jerk']:7.1f}"
            line += f"{1e3 * e['clearance']:7.0f} mm{1e3 * e['arms_apart']:7.0f} mm"
            line += f"  {e['oracle']}"
        print(line, flush=True)


def list_motions(args, rig):
    """Yield each motion's name, times, rows and ball's way."""
    if args.drawn:
        for seed in args.drawn:
            motion = make_picks(args.seconds, seed, draw_habit(seed))
            yield f"drawn {seed}", motion, draw_way(seed, rig.middle)
    elif args.files:
        for path in args.files:
            yield path.stem, read_recorded(path, args.seconds), rig.way
    else:
        for seed in args.seeds:
            yield f"picks {seed}", make_picks(args.seconds, seed), rig.way


def main():
    """Play all motions with all cameras."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument(
        "--drawn", type=int, nargs="+", help="drawn anew by these seeds"
    )
    parser.add_argument("--follower", choices=RIGS, default="ur5e_camera")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    print(
        f"{args.seconds:g} s of each motion, without the first {SETTLE:g} s; "
        f"a ball of {BALL} m goes round"
    )
    print(
        f"{'motion':<19}{'camera':<14}{'in frame':>9}{'free':>9}{'angle':>9}{'roll':>8}"
        f"{'distance':>10}{'turn':>8}{'asked a':>7}{'jerk':>7}{'sent a':>7}{'jerk':>7}"
        f"{'gate':>10}{'arms':>10}  oracle"
    )
    found, rig = {}, RIGS[args.follower]
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "motion.txt"
        for name, motion, way in list_motions(args, rig):
            write_tum(made, *motion)
            found[name] = run(name, made, rig, way)
    if args.json:
        args.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    sys.exit(main())
