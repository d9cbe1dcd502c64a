"""A data set that LeRobot itself writes: run by its Python, as WRITER FOLDER KIND N.

In frame k of each episode the first 2 k + 10 columns of a picture are green.
"""

import importlib
import sys

import numpy as np

WIDTH, HEIGHT, FPS, N_FRAMES = 160, 120, 30, 60
JOINTS = ["shoulder_pan.pos", "shoulder_lift.pos", "gripper.pos"]


def count_green(image):
    """Return the frame that a picture shows."""
    return ((image[HEIGHT // 2, :, 1] > 100).sum() - 10) / 2


def write(root, kind, n=2):
    lerobot = importlib.import_module("lerobot.datasets.lerobot_dataset")
    vector = {"dtype": "float32", "shape": (len(JOINTS),), "names": JOINTS}
    image = {"dtype": kind, "shape": (HEIGHT, WIDTH, 3)}
    image["names"] = ["height", "width", "channels"]
    made = lerobot.LeRobotDataset.create(
        repo_id="me/set",
        fps=FPS,
        features={
            "observation.state": vector,
            "action": vector,
            "observation.images.front": image,
        },
        root=root,
        robot_type="so101",
        use_videos=kind == "video",
    )
    for episode in range(int(n)):
        for k in range(N_FRAMES):
            picture = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
            picture[:, : 2 * k + 10] = (20 * episode + 60, 200, 10)
            state = np.array([np.sin(k / 10), k, episode], np.float32)
            made.add_frame(
                {
                    "observation.state": state,
                    "action": state + np.float32(0.1),
                    "observation.images.front": picture,
                    "task": f"task {episode}",
                }
            )
        made.save_episode()
    made.finalize()


if __name__ == "__main__":
    write(*sys.argv[1:])
