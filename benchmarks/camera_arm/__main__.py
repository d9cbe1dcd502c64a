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
from benchmarks.camera_arm.judge import BALL, SETTLE, STATIC, Judge, place_occluder
from benchmarks.camera_arm.motions import make_picks, read_recorded, write_tum
from paprle.config import resolve
from paprle.contracts.types import GateState
from paprle.evaluation.report import evaluate
from paprle.hosts.virtual import VirtualSession
from paprle.recording.reader import Episode

VARIANTS = {  # what differs, and the limits of the camera's motion
    "camera arm": (),
    "as printed": (
        "advisors.viewpoint.variant=paper",
        "retarget.limbs.camera.motion={max_acceleration: 0.1, max_jerk: 0.1}",
    ),
    "autocam 2018": ("advisors.viewpoint.variant=autocam",),
}
WORDS = (
    "leader=offline",
    "leader.frame=relative",
    "follower=ur5e_camera",
    "env=mujoco",
    "env.block=false",
    "session.clock=virtual",
    "session.status=false",
    "session.episodes=1",
    "retarget.limbs.arm.from=hand",
    "retarget.limbs.arm.alignment=world",
    "retarget.limbs.camera.rule=look_at",
    "retarget.limbs.camera.of=arm",
    "retarget.limbs.camera.advice=viewpoint",
    "advisors.viewpoint.type=viewpoint",
    "gate.scene={table: {shape: ground, size: []}}",
    f"advisors.viewpoint.occluders.ball={BALL}",
)
COLUMNS = ("in_frame", "free", "angle_deg", "roll_deg", "distance", "turn_deg")


class Told:
    """The advisor, told where the ball is, as a detector of objects would."""

    def __init__(self, advisor, session):
        self._advisor, self._session, self._begin_ns = advisor, session, None
        self.seconds = []

    def advise(self, view, frames):
        if view.is_engaged and self._begin_ns is None:
            self._begin_ns = view.stamp_ns
        if self._begin_ns is not None:
            t = (view.stamp_ns - self._begin_ns) * 1e-9
            ball = np.array([*place_occluder(t), 0.0, 0.0, 0.0, 1.0])
            view = replace(view, objects={**view.objects, "ball": ball})
        return self._advisor.advise(view, frames)

    def __getattr__(self, name):
        return getattr(self._advisor, name)


def play(path, folder, more):
    """Return config and recording of a motion."""
    resolved = resolve([*WORDS, f"leader.path={path}", f"record.dir={folder}", *more])
    session = VirtualSession(resolved)
    advisors = session._advised._advisors  # noqa: SLF001
    advisors["viewpoint"] = Told(advisors["viewpoint"], session)
    session.run()
    return resolved, Episode.open(folder)


def measure_camera_arm(judge, episode, folder):
    """Figures that only a camera that moves has, and those of safety."""
    entry = judge.judge(judge.arm_cam, "camera_l6")
    for name, motion in (("asked", judge.asked), ("sent", judge.sent)):
        entry[f"{name}_a"], entry[f"{name}_jerk"] = metrics.find_roughness(*motion)
    gate = episode.gate[episode.gate["state"] == GateState.ENGAGED]
    entry["clearance"] = float(gate["clearance"].min())
    entry["oracle"] = find_oracle(evaluate([folder]))
    return entry


def find_oracle(report):
    """The oracle's verdict in a report, wherever it stands."""
    if isinstance(report, dict):
        if "oracle" in report:
            return str(report["oracle"]).splitlines()[0]
        report = list(report.values())
    if isinstance(report, list):
        return next((found for one in report if (found := find_oracle(one))), "")
    return ""


def run(name, path):
    """Return the figures of all cameras for one motion."""
    found = {}
    for variant, more in VARIANTS.items():
        with tempfile.TemporaryDirectory() as folder:
            resolved, episode = play(path, Path(folder), more)
            judge = Judge(resolved, episode)
            found[variant] = measure_camera_arm(judge, episode, Path(folder))
        if variant == "camera arm":
            judge.views.clear()
            for camera, T in STATIC.items():
                found[camera] = judge.judge(np.repeat(T[None], len(judge.t), axis=0))
            any_of_three = float(np.any(judge.views, axis=0).mean())
            for camera in STATIC:
                found[camera]["free_any"] = any_of_three
            found["on the hand"] = judge.judge(judge.hand_cam, "wrist_3_link")
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
            line += f"{1e3 * e['clearance']:7.0f} mm  {e['oracle']}"
        print(line, flush=True)


def main():
    """Play all motions with all cameras."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    print(
        f"{args.seconds:g} s of each motion, without the first {SETTLE:g} s; "
        f"a ball of {BALL} m goes round"
    )
    print(
        f"{'motion':<19}{'camera':<14}{'in frame':>9}{'free':>9}{'angle':>9}{'roll':>8}"
        f"{'distance':>10}{'turn':>8}{'asked a':>7}{'jerk':>7}{'sent a':>7}{'jerk':>7}"
        f"{'apart':>10}  oracle"
    )
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "motion.txt"
        for seed in args.seeds if not args.files else ():
            write_tum(made, *make_picks(args.seconds, seed))
            found[f"picks {seed}"] = run(f"picks {seed}", made)
        for path in args.files:
            write_tum(made, *read_recorded(path, args.seconds))
            found[path.stem] = run(path.stem, made)
    if args.json:
        args.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    sys.exit(main())
