"""Small datasets of each kind, written by the formats' own libraries."""

import json

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import zarr

FPS = 30
JOINTS = ("pan", "lift", "elbow")


def write_lerobot(root, lengths, *, per_file=2, names=None, change=None):
    """Write version 3: several episodes a file, a row group each; degrees."""
    names = names or [*(f"{joint}.pos" for joint in JOINTS), "gripper.pos"]
    (root / "meta" / "episodes" / "chunk-000").mkdir(parents=True)
    (root / "data" / "chunk-000").mkdir(parents=True)
    info = {
        "codebase_version": "v3.0",
        "fps": FPS,
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "features": {
            "action": {"dtype": "float32", "shape": [len(names)], "names": names},
            "observation.image": {"dtype": "image", "shape": [8, 8, 3]},
        },
    }
    rows = []
    for first in range(0, len(lengths), per_file):
        file = root / "data" / "chunk-000" / f"file-{first // per_file:03d}.parquet"
        writer = None
        for number in range(first, min(first + per_file, len(lengths))):
            n = lengths[number]
            t = np.arange(n) / FPS
            action = np.column_stack(
                [10.0 * number + 20.0 * np.sin(t + k) for k in range(len(names) - 1)]
                + [np.linspace(0, 100, n)]
            ).astype(np.float32)
            if change is not None:
                t, action = change(number, t, action)
            flat = pa.array(action.ravel(), pa.float32())
            table = pa.table(
                {
                    "action": pa.FixedSizeListArray.from_arrays(flat, len(names)),
                    "timestamp": pa.array(t, pa.float32()),
                    "episode_index": pa.array([number] * n, pa.int64()),
                    "observation.image": pa.array([b"x" * 64] * n),
                }
            )
            writer = writer or pq.ParquetWriter(file, table.schema)
            writer.write_table(table)
            rows.append((number, n, 0, first // per_file))
        writer.close()
    columns = ("episode_index", "length", "data/chunk_index", "data/file_index")
    pq.write_table(
        pa.table(dict(zip(columns, zip(*rows, strict=True), strict=True))),
        root / "meta" / "episodes" / "chunk-000" / "file-000.parquet",
    )
    (root / "meta" / "info.json").write_text(json.dumps(info))
    return root


def _create(group):
    """Return what makes an array: zarr 2 and 3 have different names for it."""
    return getattr(group, "create_array", None) or group.create_dataset


def write_umi(path, lengths, *, n_robots=1, metre=1.0, radian=1.0, width=0.08):
    """Write a hand that moves along its own z axis while it opens, and is turned."""
    is_zip = path.suffix == ".zip"
    store = zarr.storage.ZipStore(str(path), mode="w") if is_zip else str(path)
    version = {"zarr_format": 2} if int(zarr.__version__[0]) > 2 else {}
    group = zarr.open_group(store, mode="w", **version)
    data, meta = group.create_group("data"), group.create_group("meta")
    n = sum(lengths)
    for robot in range(n_robots):
        x = np.linspace(0.0, 0.1, n)
        for part, values in {
            "eef_pos": metre * np.column_stack([x, 0 * x + robot, 0 * x]),
            "eef_rot_axis_angle": np.tile([0.0, radian * np.pi / 2, 0.0], (n, 1)),
            "gripper_width": np.linspace(0.0, width, n)[:, None],
        }.items():
            array = _create(data)(
                f"robot{robot}_{part}", shape=values.shape, dtype="f4"
            )
            array[:] = values
    ends = _create(meta)("episode_ends", shape=(len(lengths),), dtype="i8")
    ends[:] = np.cumsum(lengths)
    if is_zip:
        store.close()
    return path


def write_aloha(folder, lengths, n_columns=14, scale=1.0):
    folder.mkdir()
    for number, n in enumerate(lengths):
        t = np.arange(n)[:, None] * 0.02
        rows = scale * 0.1 * np.sin(t + np.arange(n_columns)) + number
        rows[:, 6::7] = 0.5
        with h5py.File(folder / f"episode_{number}.hdf5", "w") as file:
            file.attrs["sim"] = False
            file["action"] = rows.astype(np.float32)
            file["observations/qpos"] = rows.astype(np.float32) + 0.01
            file["observations/images/top"] = np.zeros((n, 4, 4, 3), np.uint8)
    return folder
