"""Draw what a camera arm shows, from a recorded episode with ``ur5e_camera``.

    python -m benchmarks.pictures.camera_arm EPISODE.mcap docs/camera_arm.webp

Three moments: both arms from outside above, the picture of the camera arm below. It
needs a way to draw without a screen (EGL or OSMesa), and pillow.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
from PIL import Image

from benchmarks.camera_arm.judge import Judge, Scene
from paprle.config import Resolved
from paprle.hardware.mujoco.offscreen import Offscreen
from paprle.recording.reader import Episode

_SIZE = (320, 240)  # pixels of one picture
_MOMENTS = (0.15, 0.5, 0.85)  # chosen: shares of the motion
_QUALITY = 80  # chosen: clean edges
_R_CAM_MUJOCO = np.diag([1.0, -1.0, -1.0])  # spec: MuJoCo looks along −z, y up


def main() -> int:
    """Draw the moments and write the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("episode", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    episode = Episode.open(args.episode)
    judge = Judge(Resolved.from_dict(episode.config), episode)
    screen = Offscreen(judge.scene.model, *_SIZE)
    sheet = Image.new("RGB", (len(_MOMENTS) * _SIZE[0], 2 * _SIZE[1]))
    for column, share in enumerate(_MOMENTS):
        row = round(share * (len(judge.t) - 1))
        judge.scene.put(judge.q[row], judge.way.place(judge.t[row]))
        views = (look_from_outside(), look_through(judge.scene, judge.arm_cam[row]))
        for line, camera in enumerate(views):
            drawn = Image.fromarray(screen.draw(judge.scene.data, camera))
            sheet.paste(drawn, (column * _SIZE[0], line * _SIZE[1]))
    screen.close()
    sheet.save(args.out, quality=_QUALITY, method=6)
    sys.stdout.write(f"{args.out}: {args.out.stat().st_size / 1e3:.0f} kB\n")
    return 0


def look_from_outside() -> mujoco.MjvCamera:
    """Return a camera that sees both arms."""
    camera = mujoco.MjvCamera()
    camera.lookat[:] = (0.4, -0.3, 0.4)
    camera.distance, camera.azimuth, camera.elevation = 2.4, 155.0, -22.0
    return camera


def look_through(scene: Scene, T_world_cam: np.ndarray) -> mujoco.MjvCamera:
    """Return the camera arm's camera."""
    R = T_world_cam[:3, :3] @ _R_CAM_MUJOCO
    x, y, z, w = pin.Quaternion(R).coeffs()
    scene.data.mocap_pos[scene.eye] = T_world_cam[:3, 3]
    scene.data.mocap_quat[scene.eye] = w, x, y, z
    mujoco.mj_kinematics(scene.model, scene.data)
    mujoco.mj_camlight(scene.model, scene.data)
    camera = mujoco.MjvCamera()
    camera.type, camera.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, 0
    return camera


if __name__ == "__main__":
    sys.exit(main())
