"""Draw the picture of the README from a recorded episode of the demo.

``python -m benchmarks.demo_picture demo/episode_000000.mcap docs/demo.png``: the robot
in MuJoCo, the path that it drew and how far off it was.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import matplotlib as mpl
import mujoco
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

from followers.mujoco.picture import render_png
from paprle.config import Resolved
from paprle.contracts.types import SessionState
from paprle.hosts.plan import make_follower, make_robot
from paprle.recording.reader import Episode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("episode", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    episode = Episode.open(args.episode)
    resolved = Resolved.from_dict(episode.config)
    robot = make_robot(resolved)
    follower = make_follower(resolved, robot)
    info = follower.open()
    engaged = episode.ticks["stamp_ns"][episode.ticks["state"] == SessionState.ENGAGED]
    gate = episode.gate
    gate = gate[(gate["stamp_ns"] >= engaged[0]) & (gate["stamp_ns"] <= engaged[-1])]
    model = mujoco.MjModel.from_xml_string(info.scene["mjcf"])
    qpos = model.qpos0.copy()
    q = dict(zip(robot.joint_names, gate["q_meas"][len(gate) // 3], strict=True))
    q |= {m.joint: m.multiplier * q[m.source] + m.offset for m in robot.mimics}
    for name, value in q.items():
        qpos[model.joint(name).qposadr[0]] = value
    picture = plt.imread(io.BytesIO(render_png(info.scene["mjcf"], qpos)))
    limb = next(iter(robot.limbs.values()))
    path = np.array([limb.fk(limb.take(q)).translation for q in gate["q_meas"]])
    t_ns, target = episode.target[limb.name]
    actual = np.column_stack(
        [np.interp(t_ns, gate["stamp_ns"], column) for column in path.T]
    )
    error = np.linalg.norm(actual - target[:, :3], axis=1) * 1e3
    figure, (left, middle, right) = plt.subplots(
        1, 3, figsize=(13, 4), width_ratios=(1.3, 1, 1.1), layout="constrained"
    )
    left.imshow(picture)
    left.set_axis_off()
    left.set_title(f"{resolved.follower_name} in {resolved.env_name}", loc="left")
    middle.plot(1e3 * target[:, 1], 1e3 * target[:, 2], "k--", lw=1, label="target")
    middle.plot(1e3 * path[:, 1], 1e3 * path[:, 2], lw=1.5, label="robot")
    middle.set(aspect="equal", xlabel="y [mm]", ylabel="z [mm]")
    middle.legend(frameon=False, loc="center")
    right.plot((t_ns - t_ns[0]) * 1e-9, error, lw=1)
    right.set(xlabel="time [s]", ylabel="distance to the target [mm]", ylim=(0, None))
    right.set_title("as it happened, lag included", loc="left")
    for axes in (middle, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(args.out, dpi=90)
    follower.close("hold")


if __name__ == "__main__":
    main()
