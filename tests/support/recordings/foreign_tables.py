"""HDF5 and zarr files as others write them, of a known motion and numbered pictures."""

import io
import json

import h5py
import numpy as np
import zarr
from foreign_bags import make_picture
from PIL import Image

FPS = 20.0
SIZE = (48, 64)


def move(t, n=7):
    """Return joints at times [s], (N, n)."""
    return np.sin(np.asarray(t)[:, None] * 0.5 + 0.3 * np.arange(n))


def draw(n):
    return np.stack([make_picture(k, SIZE) for k in range(n)])


def write_aloha(path, n=30, *, coded=False, change=None):
    """Write an episode as ACT does, and as Mobile ALOHA does with JPEG."""
    t = np.arange(n) / FPS
    with h5py.File(path, "w") as file:
        file.attrs["sim"] = False
        file["observations/qpos"] = move(t).astype(np.float32)
        file["observations/qvel"] = np.zeros((n, 7), np.float32)
        file["action"] = move(t + 0.05).astype(np.float32)
        images = file.create_group("observations/images")
        if coded:
            data = [code(image) for image in draw(n)]
            longest = max(map(len, data))
            rows = [np.frombuffer(one.ljust(longest, b"\0"), np.uint8) for one in data]
            images["cam_high"] = np.stack(rows)
            file["compress_len"] = np.array([[len(one) for one in data]])
        else:
            images["cam_high"] = draw(n)
        if change is not None:
            change(file)
    return path


def write_robomimic(path, lengths=(30, 25)):
    """Write demonstrations as robomimic does; images are of robosuite's kind."""
    with h5py.File(path, "w") as file:
        data = file.create_group("data")
        data.attrs["env_args"] = json.dumps({"env_kwargs": {"control_freq": FPS}})
        # as robomimic numbers them: demo_10 stands before demo_2 in the file
        for number, n in zip((2, 10), lengths, strict=True):
            demo = data.create_group(f"demo_{number}")
            demo.attrs["num_samples"] = n
            q = move(np.arange(n) / FPS)
            demo["obs/robot0_joint_pos"] = q
            demo["obs/robot0_gripper_qpos"] = q[:, :2]
            demo["obs/agentview_image"] = draw(n)
            demo["next_obs/robot0_joint_pos"] = q
            demo["actions"] = 0.5 * q
            demo["dones"] = np.zeros(n)
            demo["states"] = np.zeros((n, 40))
    return path


def write_umi(path, lengths=(30, 25), ends=None):
    """Write a zarr of UMI's replay buffer, a folder or a zip."""
    is_zip = path.suffix == ".zip"
    store = zarr.storage.ZipStore(str(path), mode="w") if is_zip else str(path)
    version = {"zarr_format": 2} if int(zarr.__version__[0]) > 2 else {}
    group = zarr.open_group(store, mode="w", **version)
    data, meta = group.create_group("data"), group.create_group("meta")
    q = np.concatenate([move(np.arange(n) / FPS) for n in lengths])
    arrays = {
        "robot0_eef_pos": q[:, :3],
        "robot0_eef_rot_axis_angle": q[:, 3:6],
        "robot0_gripper_width": q[:, 6:],
        "camera0_rgb": np.concatenate([draw(n) for n in lengths]),
    }
    for name, values in arrays.items():
        put(data, name, values)
    put(meta, "episode_ends", np.cumsum(lengths) if ends is None else np.array(ends))
    if is_zip:
        store.close()
    return path


def put(group, name, values):
    """Create an array: zarr 2 and 3 have different names for it."""
    make = getattr(group, "create_array", None) or group.create_dataset
    make(name, shape=values.shape, dtype=values.dtype)[:] = values


def code(image):
    data = io.BytesIO()
    Image.fromarray(image).save(data, "JPEG", quality=95)
    return data.getvalue()
