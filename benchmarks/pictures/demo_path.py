"""Draw the moving picture of the README from a recorded episode of the demo.

    python -m benchmarks.pictures.demo_path demo/episode_000000.mcap docs/demo_path.webp

The robot in MuJoCo, the path that it draws beside what was asked for, and how far off
it is. It needs a way to draw without a screen (EGL or OSMesa), and pillow.
"""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import mujoco
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from paprle.config import Resolved
from paprle.contracts.types import SessionState, Vec
from paprle.followers.mujoco.picture import render_png
from paprle.hosts.plan import make_follower, make_robot
from paprle.recording.reader import Episode
from paprle.robot import RobotModel

_FPS = 6  # chosen: smooth enough, and small
_INCHES, _DPI = (9.2, 3.1), 90  # chosen: the width of a README
_QUALITY = 72  # chosen: thin lines stay clean
_MOST_BYTES = 1_500_000  # chosen: a README opens at once
_RENDERED = (480, 400)  # pixels, as large as it is shown
STYLE = {"axes.spines.top": False, "axes.spines.right": False, "font.size": 8.5}


class Motion(NamedTuple):
    """Motion to draw.

    Attributes:
        t: (N,), [s].
        target: (N, 3), [mm].
        actual: (N, 3), [mm].
        q: Measured, (N, n), [rad].
    """

    t: Vec
    target: Vec
    actual: Vec
    q: Vec


def main() -> int:
    """Draw each frame and write the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("episode", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    episode = Episode.open(args.episode)
    resolved = Resolved.from_dict(episode.config)
    robot = make_robot(resolved)
    follower = make_follower(resolved, robot)
    try:
        mjcf = follower.open().scene["mjcf"]
    finally:
        follower.close("hold")
    motion = read_motion(episode, robot)
    title = f"{resolved.follower_name} in {resolved.env_name}"
    n_frames = round((motion.t[-1] - motion.t[0]) * _FPS)
    with mpl.rc_context(STYLE):
        frames = [
            draw(motion, int(row), render(mjcf, robot, motion.q[int(row)]), title)
            for row in np.linspace(0, len(motion.t) - 1, n_frames)
        ]
    frames[0].save(
        args.out,
        save_all=True,
        append_images=frames[1:],
        duration=round(1000 / _FPS),
        loop=0,
        quality=_QUALITY,
        method=6,
    )
    size = args.out.stat().st_size
    sys.stdout.write(f"{args.out}: {n_frames} frames, {size / 1e6:.2f} MB\n")
    return 0 if size <= _MOST_BYTES else 1


def read_motion(episode: Episode, robot: RobotModel) -> Motion:
    """Return the first limb's motion while ENGAGED."""
    ticks, gate = episode.ticks, episode.gate
    limb = next(iter(robot.limbs.values()))
    t_ns, target = episode.target[limb.name]
    on_ns = ticks["stamp_ns"][ticks["state"] == SessionState.ENGAGED]
    is_on = (t_ns >= on_ns[0]) & (t_ns <= on_ns[-1])
    t_ns, target = t_ns[is_on], target[is_on]
    q = np.column_stack(
        [np.interp(t_ns, gate["meas_ns"], column) for column in gate["q_meas"].T]
    )
    actual = np.array([limb.fk(limb.take(row)).translation for row in q])
    t: Vec = (t_ns - t_ns[0]) * 1e-9
    return Motion(t, 1e3 * target[:, :3], 1e3 * actual, q)


def render(mjcf: str, robot: RobotModel, q_robot: Vec) -> Image.Image:
    """Return a picture of the robot."""
    model = mujoco.MjModel.from_xml_string(mjcf)
    qpos = model.qpos0.copy()
    q = dict(zip(robot.joint_names, q_robot, strict=True))
    q |= {m.joint: m.multiplier * q[m.source] + m.offset for m in robot.mimics}
    for name, value in q.items():
        qpos[model.joint(name).qposadr[0]] = value
    return Image.open(io.BytesIO(render_png(mjcf, qpos, *_RENDERED)))


def draw(motion: Motion, row: int, robot: Image.Image, title: str) -> Image.Image:
    """Draw robot, path up to a row, and error."""
    figure = Figure(figsize=_INCHES, dpi=_DPI, layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.25, 1.0, 1.1))
    left.imshow(np.asarray(robot))
    left.set_axis_off()
    left.set_title(title, loc="left")
    done = slice(0, row + 1)
    _, y, z = motion.target.T
    middle.plot(y, z, color="0.6", ls="--", lw=1, label="target")
    middle.plot(*motion.actual[done, 1:].T, lw=1.8, label="robot")
    middle.plot(*motion.actual[row, 1:], "o", color="C0", ms=5)
    middle.set(aspect="equal", xlabel="y [mm]", ylabel="z [mm]")
    _frame(middle, np.column_stack([y, z]))
    middle.legend(frameon=False, loc="center")
    error = np.linalg.norm(motion.actual - motion.target, axis=1)
    right.plot(motion.t[done], error[done], lw=1.2)
    right.set(xlim=(0, motion.t[-1]), ylim=(0, 1.1 * error.max()))
    right.set(xlabel="time [s]", ylabel="distance to the target [mm]")
    right.set_title("as it happened, lag included", loc="left")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")


def _frame(axes: Any, points: Vec) -> None:
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.08 * float((high - low).max())
    axes.set_xlim(low[0] - margin, high[0] + margin)
    axes.set_ylim(low[1] - margin, high[1] + margin)


if __name__ == "__main__":
    sys.exit(main())
