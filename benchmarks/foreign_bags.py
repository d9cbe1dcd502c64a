"""Memory and time of converting bags of others into a data set.

    python -m benchmarks.foreign_bags [--gigabytes 0.2 2] [--pictures jpeg raw]

Writes ROS 2 bags (MCAP) of two cameras of 640 × 480 at 30 Hz and of joint states at
500 Hz, and converts each by the mapping that ``dataset inspect`` drafts, in a process
of its own. Exits with 1 where a conversion fails, loses rows, or takes more memory for
the largest bag than for the smallest.
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from paprle.contracts.kit.work import Work
from paprle.hosts.operator.slow_work import SlowWork

NS = 1_000_000_000
_BEGIN_NS = 1_700_000_000 * NS
_HEIGHT, _WIDTH = 480, 640
_FPS, _RATE = 30, 500  # [Hz] of cameras, of joint states
_CAMERAS = ("/front/image", "/wrist/image")
_JOINTS = [f"joint{k}" for k in range(7)]
_PERIOD = 90  # [pictures] chosen: the cycle that is coded once
_GROWTH = 64.0  # [MB] chosen: of what an allocator keeps
_LOST = 5  # [rows] chosen: at the ends, where topics do not speak yet
_RUN = """
import resource, sys
from paprle.cli.app import main
code = main(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_SELF)
sys.stderr.write(f"used {used.ru_utime + used.ru_stime} {used.ru_maxrss}")
sys.exit(code)
"""


def main(words: list[str] | None = None) -> int:
    """Print a line for each bag; return 1 if memory grew or rows are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, nargs="+", default=[0.2, 2.0])
    parser.add_argument(
        "--pictures", nargs="+", choices=("jpeg", "raw"), default=["jpeg", "raw"]
    )
    args = parser.parse_args(words)
    print(
        f"{'pictures':<9} {'GB':>5} {'rows':>7} {'time [s]':>9} {'CPU [s]':>8}", end=""
    )
    print(f" {'peak RSS [MB]':>14} {'data set [MB]':>14}")
    is_good = True
    for form in args.pictures:
        peaks = []
        for gigabytes in sorted(args.gigabytes):
            with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
                peak, missing = _measure(Path(folder), form, gigabytes)
            peaks.append(peak)
            is_good &= missing <= _LOST
        is_good &= peaks[-1] - peaks[0] <= _GROWTH
    return int(not is_good)


def _measure(folder: Path, form: str, gigabytes: float) -> tuple[float, int]:
    """Return the peak of memory, [MB], and the number of missing rows."""
    with SlowWork(f"writing a bag of {gigabytes:g} GB") as work:
        seconds = _write_bag(folder / "bag", form, gigabytes, work)
    size = sum(path.stat().st_size for path in (folder / "bag").iterdir()) * 1e-9
    mapping, out = folder / "mapping.yaml", folder / "set"
    _run("dataset", "inspect", str(folder / "bag"), "--out", str(mapping))
    begin = time.monotonic()
    told = _run(
        "dataset", "convert", str(folder / "bag"),
        "--mapping", str(mapping), "--out", str(out), "--task", "pick up the cube",
    )  # fmt: skip
    took = time.monotonic() - begin
    cpu, rss = map(float, told.rsplit("used ", 1)[-1].split())
    rows = json.loads((out / "meta/info.json").read_text())["total_frames"]
    made = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    print(f"{form:<9} {size:>5.2f} {rows:>7} {took:>9.0f} {cpu:>8.0f}", end="")
    print(f" {rss / 1024:>14.0f} {made / 1e6:>14.0f}", flush=True)
    return rss / 1024, int(seconds * _FPS) - rows


def _run(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", _RUN, *words],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return done.stderr


def _write_bag(path: Path, form: str, gigabytes: float, work: Work) -> float:
    """Return the length, [s]."""
    messages = _Messages(form)
    n_bytes, k = 0, 0
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connections = {
            topic: writer.add_connection(topic, kind, typestore=messages.store)
            for topic, kind in messages.kinds.items()
        }
        while n_bytes < gigabytes * 1e9:
            for topic, stamp_ns, data in messages.list_second(k):
                writer.write(connections[topic], stamp_ns, data)
                n_bytes += len(data)
            k += 1
            work.count(n_bytes * 1e-9, gigabytes, "GB")
    return float(k)


class _Messages:
    def __init__(self, form: str) -> None:
        self.store = get_typestore(Stores.ROS2_HUMBLE)
        self._types = self.store.types
        self._form = form
        picture = "CompressedImage" if form == "jpeg" else "Image"
        suffix = "/compressed" if form == "jpeg" else ""
        self.kinds = {
            f"{camera}{suffix}": f"sensor_msgs/msg/{picture}" for camera in _CAMERAS
        } | {"/joint_states": "sensor_msgs/msg/JointState"}
        self._pictures = [self._code(image) for image in _draw_cycle()]

    def list_second(self, second: int) -> Iterator[tuple[str, int, bytes]]:
        """Yield topic, stamp and data by time."""
        due = []
        for topic, kind in self.kinds.items():
            rate = _RATE if kind.endswith("JointState") else _FPS
            due += [(k * NS // rate, topic, kind, k) for k in range(rate)]
        for offset_ns, topic, kind, k in sorted(due):
            stamp_ns = _BEGIN_NS + second * NS + offset_ns
            if kind.endswith("JointState"):
                message = self._make_joints(stamp_ns, second + k / _RATE)
            else:
                message = self._make_picture(stamp_ns, second * _FPS + k)
            yield topic, stamp_ns, bytes(self.store.serialize_cdr(message, kind))

    def _make_joints(self, stamp_ns: int, t: float) -> Any:
        q = np.sin(0.3 * t + np.arange(len(_JOINTS)))
        dq = 0.3 * np.cos(0.3 * t + np.arange(len(_JOINTS)))
        kind = self._types["sensor_msgs/msg/JointState"]
        return kind(self._make_header(stamp_ns), _JOINTS, q, dq, np.zeros(len(q)))

    def _make_picture(self, stamp_ns: int, number: int) -> Any:
        data = self._pictures[number % _PERIOD]
        header = self._make_header(stamp_ns)
        if self._form == "jpeg":
            kind = self._types["sensor_msgs/msg/CompressedImage"]
            return kind(header, "jpeg", data)
        kind = self._types["sensor_msgs/msg/Image"]
        return kind(header, _HEIGHT, _WIDTH, "rgb8", 0, 3 * _WIDTH, data)

    def _make_header(self, stamp_ns: int) -> Any:
        stamp = self._types["builtin_interfaces/msg/Time"](
            stamp_ns // NS, stamp_ns % NS
        )
        return self._types["std_msgs/msg/Header"](stamp, "")

    def _code(self, image: Any) -> Any:
        if self._form == "raw":
            return image.ravel()
        data = io.BytesIO()
        Image.fromarray(image).save(data, "JPEG", quality=85)
        return np.frombuffer(data.getvalue(), np.uint8)


def _draw_cycle() -> Iterator[Any]:
    """Yield pictures of a textured table with a block that moves, RGB."""
    random = np.random.default_rng(1)
    rows, columns = np.mgrid[:_HEIGHT, :_WIDTH]
    table = 110 + 60 * np.sin(columns / 37.0) * np.cos(rows / 23.0)
    table = table[:, :, None] + random.normal(0.0, 6.0, (_HEIGHT, _WIDTH, 3))
    for k in range(_PERIOD):
        image = np.clip(table + random.normal(0.0, 2.0, table.shape), 0, 255)
        x = round(280 + 250 * np.sin(2.0 * np.pi * k / _PERIOD))
        image[200:280, x : x + 80] = (200, 40, 30)
        yield image.astype(np.uint8)


if __name__ == "__main__":
    raise SystemExit(main())
