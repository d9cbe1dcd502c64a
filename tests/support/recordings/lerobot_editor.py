"""LeRobot's own edits, and its reading of sets, run by its Python as EDITOR FOLDER.

In FOLDER are ``one`` and ``two``, sets that LeRobot wrote, and ``ours``, our edits of
them by name; ``theirs`` becomes LeRobot's, and each set gets ``NAME.npz``.
"""

import importlib
import json
import sys
from pathlib import Path

import numpy as np

CAMERA = "observation.images.front"


def load(root):
    lerobot = importlib.import_module("lerobot.datasets.lerobot_dataset")
    return lerobot.LeRobotDataset(f"me/{root.name}", root=root, video_backend="pyav")


def edit(folder, theirs):
    tools = importlib.import_module("lerobot.datasets.dataset_tools")
    one, two = load(folder / "one"), load(folder / "two")
    tools.delete_episodes(one, [0, 2], theirs / "delete", "me/delete")
    tools.split_dataset(one, {"train": 0.5, "val": 0.5}, theirs / "split")
    tools.merge_datasets([one, two], "me/merge", theirs / "merge")
    tools.remove_feature(one, CAMERA, theirs / "remove", "me/remove")
    ours = load(folder / "ours/merge")
    tools.delete_episodes(ours, [0, 2], theirs / "again", "me/again")


def read(root):
    made = load(root)
    columns = {}
    for k in range(len(made)):
        for name, value in made[k].items():
            if name == CAMERA:
                value = (np.asarray(value)[1, 60] > 0.4).sum()  # noqa: PLW2901
            columns.setdefault(name, []).append(np.asarray(value))
    stats = {
        f"stats/{name}/{key}": np.asarray(value)
        for name, one in made.meta.stats.items()
        for key, value in one.items()
    }
    info = json.dumps(sorted(made.meta.features))
    out = root.parent / f"{root.name}.npz"
    np.savez(out, info=info, **stats, **{k: np.array(v) for k, v in columns.items()})


def main(folder):
    edit(folder, folder / "theirs")
    for part in ("ours", "theirs"):
        for info in sorted((folder / part).rglob("info.json")):
            read(info.parents[1])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
