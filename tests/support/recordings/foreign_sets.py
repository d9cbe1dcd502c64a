"""LeRobot v3 data sets of other people's layout, and an independent reading of them.

Frame n shows n: 2 n + 10 green columns in a video, grey level n in an image.
"""

import io
import json
from fractions import Fraction

import av
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

WIDTH, HEIGHT, FPS = 320, 64, 25
VIDEO, STILL = "observation.images.top", "observation.images.side"
LANGUAGE = pa.list_(
    pa.struct(
        [
            ("role", pa.string()),
            ("content", pa.string()),
            ("style", pa.string()),
            ("timestamp", pa.float32()),
        ]
    )
)
FEATURES = {
    "observation.state": {"dtype": "float32", "shape": [2], "names": ["a", "b"]},
    "action": {"dtype": "float32", "shape": [2], "names": ["a", "b"]},
    STILL: {"dtype": "image", "shape": [8, 8, 3], "names": None},
    VIDEO: {
        "dtype": "video",
        "shape": [HEIGHT, WIDTH, 3],
        "info": {"video.codec": "h264"},
    },
    "language_persistent": {"dtype": "language", "shape": [1], "names": None},
    "next.done": {"dtype": "bool", "shape": [1], "names": None},
    "timestamp": {"dtype": "float32", "shape": [1], "names": None},
    **{
        name: {"dtype": "int64", "shape": [1], "names": None}
        for name in ("frame_index", "episode_index", "index", "task_index")
    },
}


def write_foreign(
    root, lengths, *, gop=12, b_frames=2, first=0, tasks=("pick", "place")
):
    """Write a set: one row group, one video encoded in one go, two tasks an episode."""
    (root / "meta/episodes/chunk-000").mkdir(parents=True)
    (root / "data/chunk-000").mkdir(parents=True)
    total = sum(lengths)
    _write_video(
        root / f"videos/{VIDEO}/chunk-000/file-000.mp4", first, total, gop, b_frames
    )
    rows, episodes, at = [], [], 0
    for number, length in enumerate(lengths):
        for k in range(length):
            n = first + at + k
            rows.append(
                {
                    "observation.state": [float(n), np.sin(n)],
                    "action": [float(n + 1), np.sin(n + 1)],
                    STILL: {"bytes": _draw_still(n), "path": None},
                    "language_persistent": [
                        _tell("reach", 0.0),
                        _tell("grasp", 0.6),
                    ],
                    "next.done": k == length - 1,
                    "timestamp": k / FPS,
                    "frame_index": k,
                    "episode_index": number,
                    "index": at + k,
                    "task_index": int(k >= length // 2),
                }
            )  # fmt: skip
        episodes.append(
            {
                "episode_index": number,
                "tasks": list(tasks),
                "length": length,
                "data/chunk_index": 0,
                "data/file_index": 0,
                "dataset_from_index": at,
                "dataset_to_index": at + length,
                f"videos/{VIDEO}/chunk_index": 0,
                f"videos/{VIDEO}/file_index": 0,
                f"videos/{VIDEO}/from_timestamp": at / FPS,
                f"videos/{VIDEO}/to_timestamp": (at + length) / FPS,
                "note": f"episode {number}",
            }
        )
        at += length
    types = {
        "observation.state": pa.list_(pa.float32()),
        "action": pa.list_(pa.float32(), 2),
        "language_persistent": LANGUAGE,
        "timestamp": pa.float32(),
    }
    table = pa.Table.from_pylist(rows)
    for name, kind in types.items():
        column = table.schema.get_field_index(name)
        table = table.set_column(column, name, table[name].cast(kind))
    pq.write_table(table, root / "data/chunk-000/file-000.parquet")
    pd.DataFrame(episodes).to_parquet(root / "meta/episodes/chunk-000/file-000.parquet")
    index = pd.Index(tasks, name="task")
    pd.DataFrame({"task_index": range(len(tasks))}, index=index).to_parquet(
        root / "meta/tasks.parquet"
    )
    info = {
        "codebase_version": "v3.0",
        "robot_type": "two_joints",
        "total_episodes": len(lengths),
        "total_frames": total,
        "total_tasks": len(tasks),
        "chunks_size": 1000,
        "fps": FPS,
        "splits": {"train": f"0:{len(lengths)}"},
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "video_path": "videos/{video_key}/chunk-{chunk_index:03d}"
        "/file-{file_index:03d}.mp4",
        "features": FEATURES,
        "own_key": {"kept": True},
    }
    (root / "meta/info.json").write_text(json.dumps(info))
    (root / "README.md").write_text("# A set\n")
    return root


def _tell(content, timestamp):
    told = {"role": "user", "content": content, "style": "subtask"}
    return told | {"timestamp": timestamp}


def _draw_still(n):
    data = io.BytesIO()
    Image.fromarray(np.full((8, 8, 3), n % 256, np.uint8)).save(data, "PNG")
    return data.getvalue()


def _write_video(path, first, n, gop, b_frames):
    path.parent.mkdir(parents=True)
    with av.open(str(path), "w") as file:
        stream = file.add_stream("libx264", rate=FPS)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.gop_size = gop
        stream.max_b_frames = b_frames
        stream.options = {"crf": "18", "sc_threshold": "0", "open-gop": "0"}
        for k in range(n):
            picture = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
            picture[:, : 2 * (first + k) + 10, 1] = 220
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = k, Fraction(1, FPS)
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))


def read_set(root):
    """Return ``info.json``, episodes as dictionaries, and all rows, by pandas."""
    info = json.loads((root / "meta/info.json").read_text())
    files = sorted((root / "meta/episodes").rglob("*.parquet"))
    episodes = pd.concat(map(pd.read_parquet, files)).to_dict("records")
    data = sorted((root / "data").rglob("*.parquet"))
    return info, episodes, pd.concat(map(pd.read_parquet, data), ignore_index=True)


def read_tasks(root):
    """Return tasks by number."""
    table = pd.read_parquet(root / "meta/tasks.parquet")
    return {int(k): str(text) for text, k in table["task_index"].items()}


def see_numbers(root, episode, video=VIDEO):
    """Return the numbers that an episode's video shows, frame by frame."""
    names = [f"videos/{video}/{key}" for key in ("chunk_index", "file_index")]
    chunk, number = (int(episode[name]) for name in names)
    begin = episode[f"videos/{video}/from_timestamp"]
    end = episode[f"videos/{video}/to_timestamp"]
    path = root / f"videos/{video}/chunk-{chunk:03d}/file-{number:03d}.mp4"
    with av.open(str(path)) as file:
        shown = {
            frame.time: frame.to_ndarray(format="rgb24")
            for frame in file.decode(video=0)
        }
    times = np.array(sorted(shown))
    assert round((end - begin) * FPS) == episode["length"]
    found = []
    for k in range(episode["length"]):
        t = times[np.abs(times - begin - k / FPS).argmin()]
        assert abs(t - begin - k / FPS) < 1e-4, "LeRobot refuses more"
        found.append(round(((shown[t][HEIGHT // 2, :, 1] > 110).sum() - 10) / 2))
    return found
