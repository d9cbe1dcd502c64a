"""LeRobot reads a data set: run by the Python of an environment that has it.

python lerobot_judge.py ROOT OUT.npz: every frame at its index, with all cameras.
"""

import sys

import numpy as np
from lerobot.datasets.lerobot_dataset import LeRobotDataset


def read_all(root):
    found = {"index": [], "episode_index": [], "frame_index": [], "timestamp": []}
    # torchcodec looks for FFmpeg's libraries, which a bare machine has not
    dataset = LeRobotDataset("local/judged", root=root, video_backend="pyav")
    found |= {key: [] for key in dataset.meta.features if key not in found}
    for k in range(len(dataset)):
        item = dataset[k]
        for name, values in found.items():
            value = item[name].numpy()
            if value.ndim == 3:
                value = np.round(value.transpose(1, 2, 0) * 255).astype(np.uint8)
            values.append(value)
    tasks = [dataset[k]["task"] for k in range(len(dataset))]
    return found | {"tasks": tasks}


if __name__ == "__main__":
    np.savez(sys.argv[2], **read_all(sys.argv[1]))
