"""Sets of version 2.1, judged by pandas and PyAV, and by LeRobot 0.3."""

import json

import av
import numpy as np
import pandas as pd
import pytest
from foreign_sets import FPS, HEIGHT, VIDEO, write_foreign
from lerobot_env import find_lerobot, run

from paprle_lab.editing.edit_set import edit_sets
from paprle_lab.editing.edits import Edits

FIRSTS, LENGTHS = (0, 30, 50), (30, 20, 41)


def read_lines(root, name):
    text = (root / f"meta/{name}.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def see_numbers(root, episode):
    path = root / f"videos/chunk-000/{VIDEO}/episode_{episode:06d}.mp4"
    with av.open(str(path)) as file:
        frames = list(file.decode(video=0))
    times = [frame.time for frame in frames]
    np.testing.assert_allclose(times, np.arange(len(times)) / FPS, atol=1e-4)
    images = [frame.to_ndarray(format="rgb24") for frame in frames]
    return [round(((one[HEIGHT // 2, :, 1] > 110).sum() - 10) / 2) for one in images]


@pytest.mark.parametrize(("gop", "b_frames"), [(12, 2), (2, 0)])
def test_each_episode_has_files_that_begin_with_it(tmp_path, gop, b_frames):
    source = write_foreign(tmp_path / "set", LENGTHS, gop=gop, b_frames=b_frames)
    edits = Edits(is_older=True, trims={2: (0.2, 1.0)})
    (made,) = edit_sets([source], edits, tmp_path / "older")
    root = made.root
    numbers = [list(range(30)), list(range(30, 50)), list(range(55, 75))]
    for k, expected in enumerate(numbers):
        rows = pd.read_parquet(root / f"data/chunk-000/episode_{k:06d}.parquet")
        assert [int(state[0]) for state in rows["observation.state"]] == expected
        assert rows["frame_index"].tolist() == list(range(len(expected)))
        assert see_numbers(root, k) == expected
    episodes = read_lines(root, "episodes")
    assert [one["length"] for one in episodes] == [30, 20, 20]
    assert [one["task"] for one in read_lines(root, "tasks")] == ["pick", "place"]
    stats = read_lines(root, "episodes_stats")[1]["stats"]["observation.state"]
    assert stats["mean"][0] == pytest.approx(np.mean(numbers[1]))
    info = json.loads((root / "meta/info.json").read_text())
    assert (info["codebase_version"], info["total_videos"]) == ("v2.1", 3)
    assert "language_persistent" not in info["features"]


READ = """
import sys
from pathlib import Path
import numpy as np
from lerobot.datasets.lerobot_dataset import LeRobotDataset
made = LeRobotDataset("me/set", root=sys.argv[1], video_backend="pyav")
for k in range(len(made)):
    row = made[k]
    image = np.asarray(row["observation.images.top"])[1, 32]
    print(int(row["observation.state"][0]), round(((image > 0.43).sum() - 10) / 2))
"""


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_lerobot_reads_the_older_version(tmp_path):
    source = write_foreign(tmp_path / "set", LENGTHS, gop=2, b_frames=0)
    removed = ("observation.images.side", "language_persistent")
    edits = Edits(is_older=True, removed=removed, deleted=frozenset({1}))
    edit_sets([source], edits, tmp_path / "older")
    done = run(find_lerobot("0.3"), "-c", READ, str(tmp_path / "older"))
    assert done.returncode == 0, done.stderr[-2000:]
    pairs = [line.split() for line in done.stdout.splitlines()[-71:]]
    assert [int(a) for a, _ in pairs] == [*range(30), *range(50, 91)]
    assert all(abs(int(a) - int(b)) <= 1 for a, b in pairs)
